"""Judges across benchmarks: missing cells stay missing, and no column orders numbers of two definitions."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard.board.rows import BestOf, Board, build_board
from leaderboard.cache import BoardCache
from leaderboard.judges.composite import composite_of, parse_weight
from leaderboard.judges.latex import judges_latex
from leaderboard.judges.selection import version_key
from leaderboard.judges.table import judge_json, judge_lines, part_of, sorted_lines
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


def test_a_composite_needs_a_score_on_every_benchmark_with_a_weight() -> None:
    boards = [_board(("Both", 0.7), ("First", 0.8)), _board(("Both", 0.6), benchmark="other")]
    lines = judge_lines(boards)
    found = composite_of(lines, {"vl-rewardbench": 1, "other": 3})
    (line,) = (line for line in lines if line.name == "Both")
    values = [cell.figures[0].value for cell in line.cells if cell is not None]
    assert set(found) == {line.slug}
    assert found[line.slug].composite.value == pytest.approx((values[0] + 3 * values[1]) / 4)
    assert composite_of(lines, {"vl-rewardbench": 1, "other": 0}) == {}, "one benchmark is no composite"


def _versions(*entries: tuple[str, float], benchmark: str = "vl-rewardbench") -> Board:
    found = [entry(n, share, model="Judge", version=version) for n, (version, share) in enumerate(entries, start=1)]
    board = build_board(snapshot(found), VL)
    return replace(board, spec=_renamed(board, benchmark))


def test_a_composite_takes_one_version_of_a_judge() -> None:
    boards = [_versions(("v3", 0.8), ("v1", 0.6)), _versions(("v1", 0.7), benchmark="other")]
    (found,) = composite_of(judge_lines(boards), {"vl-rewardbench": 1, "other": 1}).values()
    assert {name: row.version for name, row in found.rows.items()} == {"vl-rewardbench": "v1", "other": "v1"}
    assert found.version == "v1"
    values = [row.value("macro") for row in found.rows.values()]
    assert found.composite.value == pytest.approx(sum(values) / 2)


def test_a_composite_of_several_versions_names_each() -> None:
    boards = [_versions(("v3", 0.8)), _versions(("v1", 0.7), benchmark="other")]
    (found,) = composite_of(judge_lines(boards), {"vl-rewardbench": 1, "other": 1}).values()
    assert {name: row.version for name, row in found.rows.items()} == {"vl-rewardbench": "v3", "other": "v1"}
    assert "v3 " in found.version and "v1 " in found.version


def test_the_lower_limit_of_a_composite_accounts_for_the_choice_among_variants() -> None:
    boards = [_versions(("v3", 0.8)), _versions(("v3", 0.7), benchmark="other")]
    weights = {"vl-rewardbench": 1, "other": 1}
    (plain,) = composite_of(judge_lines(boards), weights).values()
    (row,) = (row for row in boards[0].rows if row.tier == "scored")
    low, high = row.interval["macro"]
    chosen = replace(row, best_of=BestOf(5, {}, interval={"macro": (low - 0.05, high)}, headline="macro"))
    boards[0] = replace(boards[0], rows=(chosen,))
    (found,) = composite_of(judge_lines(boards), weights).values()
    assert found.composite.interval.low < plain.composite.interval.low
    assert found.composite.interval.high == plain.composite.interval.high


def test_composites_of_judges_on_the_same_pairs_are_compared_pair_by_pair() -> None:
    board = build_board(pairwise.body(), VL)
    boards = [board, replace(board, spec=_renamed(board, "other"))]
    counts = pairwise.related()[0].relations
    weights = {"vl-rewardbench": 1, "other": 1}
    apart, paired = (
        composite_of(judge_lines(boards), weights, tested=tested)
        for tested in ({}, {"vl-rewardbench": counts, "other": counts})
    )
    widths = [sum(one.composite.worst - one.composite.best for one in found.values()) for found in (apart, paired)]  # type: ignore[operator]
    assert widths[1] < widths[0]
    assert [one.composite.value for one in paired.values()] == [one.composite.value for one in apart.values()]


@pytest.mark.parametrize(
    ("typed", "weight"), [(None, 1), ("", 1), ("2.5", 2.5), ("-3", 0), ("99", 9), ("nan", 1), ("inf", 1), ("x", 1)]
)
def test_a_weight_lies_between_0_and_9(typed: str | None, weight: float) -> None:
    assert parse_weight(typed) == weight


def test_the_latex_of_the_table_says_how_each_column_is_made_and_escapes_names() -> None:
    boards = [_board((r"50%_\input{x}", 0.7)), _board((r"50%_\input{x}", 0.6), ("B", 0.5), benchmark="other")]
    lines = judge_lines(boards)
    found = composite_of(lines, {"vl-rewardbench": 1, "other": 1})
    text = judges_latex(lines, boards, result=found, address="https://example.org/judges").decode()
    assert r"\input{x}" not in text and r"50\%\_" in text
    assert text.count("mean of 3") == 2 and "Composite" in text and "[" in text
    assert text.count(r" \\") == 1 + len(lines)


def test_a_table_longer_than_a_page_goes_on_over_pages_and_composites_have_rank_ranges() -> None:
    judges = [(f"J{number}", 0.5 + number / 100) for number in range(41)]
    boards = [_board(*judges), _board(*judges, benchmark="other")]
    lines = [line for line in judge_lines(boards) if line.benchmarks == 2]
    found = composite_of(lines, {"vl-rewardbench": 1, "other": 1})
    short, long = (
        judges_latex(lines[:n], boards, result=found, address="https://example.org/judges").decode() for n in (40, 41)
    )
    assert (r"\begin{table}" in short, "longtable" in short) == (True, False)
    assert (r"\begin{table}" in long, r"\usepackage{booktabs,longtable}" in long) == (False, True)
    assert r"\endfirsthead" in long and long.count(r"\midrule") == 2
    best = found[lines[0].slug].composite
    assert f"], {best.best}--{best.worst}}}" in long and "with the range of its rank" in long


def _reported(**facts: object) -> Board:
    """Return a board of one reported result of each judge, with these facts of their rows."""
    board = _board(("A", 0.7), ("B", 0.6))
    rows = [row for row in board.rows if row.tier == "scored"]
    scores = {"macro": None, "overall": 0.5} if facts.pop("other", False) else {}
    return replace(
        board, rows=tuple(replace(row, tier="reported", scores={**row.scores, **scores}, **facts) for row in rows)
    )  # type: ignore[arg-type]


def _latex(board: Board) -> str:
    return judges_latex(judge_lines([board]), [board], result={}, address="https://example.org/judges").decode()


def test_each_source_of_reported_figures_is_named_once_and_scored_figures_have_none() -> None:
    text = _latex(_reported(source="A & B's notes", url="https://example.org/a_b", votes_per_item=1))
    assert text.count(r"A \& B{'}s notes, example.org/\allowbreak{}a\_b") == 1
    assert re.findall(r"\\textit\{[\d.]+\}(\S*)", text) == ["$^{1}$"] * 2
    arxiv = _latex(_reported(source="arXiv:2509.16127", url="https://arxiv.org/abs/2509.16127"))
    assert "$^{1}$arXiv:2509.16127." in arxiv, "the number of a paper needs no address"
    assert "Italic" not in _latex(_board(("A", 0.7)))


def test_another_definition_and_several_votes_have_one_note_each_and_the_usual_ones_none() -> None:
    text = _latex(_reported(other=True, votes_per_item=5, source="arXiv:1", url=""))
    assert re.findall(r"\\textit\{[\d.]+\}(\S*)", text) == ["$^{b,c,1}$"] * 2
    assert text.count("$^{b}$VL-RewardBench: micro.") == text.count("$^{c}$5 votes.") == 1
    plain = _latex(_reported(votes_per_item=1, source="arXiv:1", url=""))
    assert "$^{b}$" not in plain and "votes" not in plain
    scored = _board(("A", 0.7))
    voted = replace(scored, rows=tuple(replace(row, votes_per_item=5) for row in scored.rows))
    assert "$^{b}$5 votes." in _latex(voted)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("judges", [2, 41])
def test_the_latex_compiles_and_fits_a_page_whatever_names_there_are(tmp_path: Path, judges: int) -> None:
    names = ["[x]*", r"50%_\input{x}~^$&#", *(f"A-judge-with-a-long-name-and-its-recipe-{n}" for n in range(judges))]
    board = _board(*((name, 0.5 + place / 100) for place, name in enumerate(names[:judges])))
    boards = [board, *(replace(board, spec=_renamed(board, name)) for name in ("b", "c"))]
    lines = judge_lines(boards)
    made = judges_latex(
        lines, boards, result=composite_of(lines, dict.fromkeys((one.benchmark for one in boards), 1)), address="x"
    )
    head = "\\documentclass{article}\\usepackage{booktabs,longtable}\\begin{document}\n"
    (tmp_path / "t.tex").write_bytes(head.encode() + made + b"\\end{document}")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert not [
        float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout) if float(points) > 12
    ]


def test_a_board_of_a_part_says_so_in_json_and_latex_and_one_of_all_pairs_says_nothing() -> None:
    whole = _board(("A", 0.7))
    assert (whole.part, part_of(whole)) == (None, "")
    part = replace(whole, sizes=dict.fromkeys(whole.sizes, 10))
    assert part_of(part) == "30 of 1,247 pairs"
    for board, said in ((whole, None), (part, {"pairs": 30, "released": 1247})):
        (line,) = judge_lines([board])
        assert judge_json(line, {})["benchmarks"]["vl-rewardbench"]["part"] == said
        text = judges_latex([line], [board], result={}, address="https://example.org/judges").decode()
        assert ("30 of 1,247 pairs" in text) == (said is not None)


def test_what_is_made_of_a_board_is_made_anew_with_each_version_of_it() -> None:
    source = FixedSource(snapshot([entry(1, 0.7)]))
    versions = [BoardCache(source).refresh() for _ in range(2)]  # an entry that was hidden since makes such a one
    assert versions[0].snapshot_id == versions[1].snapshot_id
    assert len({version_key([version]) for version in versions}) == 2
