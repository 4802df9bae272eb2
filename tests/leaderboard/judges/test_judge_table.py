"""Judges across benchmarks: missing cells stay missing, and no column orders numbers of two definitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaderboard.judges.composite import composite_of
from leaderboard.judges.selection import AllBoards
from leaderboard.judges.table import judge_json, judge_lines, part_of, sorted_lines
from leaderboard.ranking.rows import BestOf, Board, build_board
from leaderboard.site.cache import BoardCache
from tests.factories import pairwise
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL


def _board(*judges: tuple[str, float], benchmark: str = "vl-rewardbench") -> Board:
    found = [entry(number, share, model=name) for number, (name, share) in enumerate(judges, start=1)]
    board = BoardCache(FixedSource(snapshot(found)), published=()).refresh().board()
    return board if benchmark == board.benchmark else replace(board, spec=_renamed(board, benchmark))


def _renamed(board: Board, benchmark: str):  # type: ignore[no-untyped-def]
    return replace(board.spec, id=benchmark)


def test_a_judge_without_a_result_has_an_empty_cell() -> None:
    boards = [_board(("Both", 0.7), ("First", 0.8)), _board(("Both", 0.6), benchmark="other")]
    lines = judge_lines(boards)
    assert [(line.name, [cell is not None for cell in line.cells]) for line in lines] == [
        ("Both", [True, True]),
        ("First", [True, False]),
    ]
    assert "other" not in judge_json(lines[1])["benchmarks"]


def test_a_column_is_sorted_with_what_has_no_value_last() -> None:
    boards = [_board(("A", 0.6), ("B", 0.8)), _board(("A", 0.9), ("C", 0.7), benchmark="other")]
    lines = judge_lines(boards)
    assert [line.name for line in sorted_lines(lines, boards, sort="other")] == ["A", "C", "B"]
    assert [line.name for line in sorted_lines(lines, boards, sort="name", descending=False)] == ["A", "B", "C"]
    assert [line.name for line in sorted_lines(lines, boards, sort="other", descending=False)] == ["C", "A", "B"]


def test_each_figure_has_its_definition_rank_and_interval() -> None:
    (line,) = judge_lines([_board(("A", 0.6))])
    scored = judge_json(line)["benchmarks"]["vl-rewardbench"]["scored"]
    assert scored["rank"] == 1
    assert {one["key"]: one["definition"] for one in scored["figures"]} == {"macro": "mean of 3", "overall": "micro"}
    assert all(one["interval"][0] < one["value"] < one["interval"][1] for one in scored["figures"])


def test_a_reported_figure_of_another_definition_stands_after_those_of_the_column() -> None:
    board_version = BoardCache(FixedSource(snapshot([entry(1, 0.3, model="Scored")]))).refresh()
    boards = [board_version.board()]
    lines = sorted_lines(judge_lines(boards), boards, sort="vl-rewardbench")
    keys = [cell.leading.key for line in lines if (cell := line.cells[0]) is not None and cell.leading is not None]
    assert {*keys} == {"macro", "overall"}
    assert keys == sorted(keys)  # macro, the headline, before overall


def test_a_composite_needs_a_score_on_every_benchmark() -> None:
    boards = [_board(("Both", 0.7), ("First", 0.8)), _board(("Both", 0.6), benchmark="other")]
    lines = judge_lines(boards)
    found = composite_of(lines, ["vl-rewardbench", "other"])
    (line,) = (line for line in lines if line.name == "Both")
    values = [cell.figures[0].value for cell in line.cells if cell is not None]
    assert set(found) == {line.slug}
    assert found[line.slug].composite.value == pytest.approx(sum(values) / 2)
    assert composite_of(lines, ["vl-rewardbench"]) == {}, "one benchmark is no composite"


def _versions(*entries: tuple[str, float], benchmark: str = "vl-rewardbench") -> Board:
    found = [entry(n, share, model="Judge", version=version) for n, (version, share) in enumerate(entries, start=1)]
    board = build_board(snapshot(found), VL)
    return replace(board, spec=_renamed(board, benchmark))


def test_a_composite_takes_one_version_of_a_judge() -> None:
    boards = [_versions(("v3", 0.8), ("v1", 0.6)), _versions(("v1", 0.7), benchmark="other")]
    (found,) = composite_of(judge_lines(boards), ["vl-rewardbench", "other"]).values()
    assert {name: row.version for name, row in found.rows.items()} == {"vl-rewardbench": "v1", "other": "v1"}
    assert found.version == "version v1"
    values = [row.value("macro") for row in found.rows.values()]
    assert found.composite.value == pytest.approx(sum(values) / 2)


def test_a_composite_of_several_versions_names_each() -> None:
    boards = [_versions(("v3", 0.8)), _versions(("v1", 0.7), benchmark="other")]
    (found,) = composite_of(judge_lines(boards), ["vl-rewardbench", "other"]).values()
    assert {name: row.version for name, row in found.rows.items()} == {"vl-rewardbench": "v3", "other": "v1"}
    assert "v3 " in found.version and "v1 " in found.version


def test_the_lower_limit_of_a_composite_accounts_for_the_choice_among_variants() -> None:
    boards = [_versions(("v3", 0.8)), _versions(("v3", 0.7), benchmark="other")]
    names = ["vl-rewardbench", "other"]
    (plain,) = composite_of(judge_lines(boards), names).values()
    (row,) = (row for row in boards[0].rows if row.tier == "scored")
    low, high = row.interval["macro"]
    chosen = replace(row, best_of=BestOf(5, {}, interval={"macro": (low - 0.05, high)}, headline="macro"))
    boards[0] = replace(boards[0], rows=(chosen,))
    (found,) = composite_of(judge_lines(boards), names).values()
    assert found.composite.interval.low < plain.composite.interval.low
    assert found.composite.interval.high == plain.composite.interval.high


def test_composites_of_judges_on_the_same_pairs_are_compared_pair_by_pair() -> None:
    board = build_board(pairwise.body(), VL)
    boards = [board, replace(board, spec=_renamed(board, "other"))]
    counts = pairwise.related()[0].relations
    names = ["vl-rewardbench", "other"]
    apart, paired = (
        composite_of(judge_lines(boards), names, tested=tested)
        for tested in ({}, {"vl-rewardbench": counts, "other": counts})
    )
    widths = [sum(one.composite.worst - one.composite.best for one in found.values()) for found in (apart, paired)]  # type: ignore[operator]
    assert widths[1] < widths[0]
    assert [one.composite.value for one in paired.values()] == [one.composite.value for one in apart.values()]


def test_a_board_of_a_part_says_so_in_json_and_one_of_all_pairs_says_nothing() -> None:
    whole = _board(("A", 0.7))
    assert (whole.part, part_of(whole)) == (None, "")
    part = replace(whole, sizes=dict.fromkeys(whole.sizes, 10))
    assert part_of(part) == "30 of 1,247 pairs"
    for board, said in ((whole, None), (part, {"pairs": 30, "released": 1247})):
        (line,) = judge_lines([board])
        assert judge_json(line, {})["benchmarks"]["vl-rewardbench"]["part"] == said


def test_what_is_made_of_a_board_is_made_anew_with_each_version_of_it() -> None:
    source = FixedSource(snapshot([entry(1, 0.7)]))
    versions = [BoardCache(source).refresh() for _ in range(2)]  # an entry that was hidden since makes such a one
    assert versions[0].snapshot_id == versions[1].snapshot_id
    assert len({AllBoards([version]).key for version in versions}) == 2
