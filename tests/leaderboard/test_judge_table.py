"""Judges across benchmarks: missing cells stay missing, and no column orders numbers of two definitions."""

from __future__ import annotations

from dataclasses import replace

from leaderboard.board.rows import Board
from leaderboard.cache import BoardCache
from leaderboard.judges.table import judge_json, judge_lines, sorted_lines
from tests.factories.snapshots import FixedSource, entry, snapshot


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
    assert [line.name for line in sorted_lines(lines, boards, "other", "")] == ["A", "C", "B"]
    assert [line.name for line in sorted_lines(lines, boards, "name", "")] == ["A", "B", "C"]
    assert [line.name for line in sorted_lines(lines, boards, "", "c")] == ["C"]


def test_each_figure_has_its_definition_rank_and_interval() -> None:
    (line,) = judge_lines([_board(("A", 0.6))])
    scored = judge_json(line)["benchmarks"]["vl-rewardbench"]["scored"]
    assert scored["rank"] == 1
    assert {one["key"]: one["definition"] for one in scored["figures"]} == {"macro": "mean of 3", "overall": "micro"}
    assert all(one["interval"][0] < one["value"] < one["interval"][1] for one in scored["figures"])


def test_a_reported_figure_of_another_definition_stands_after_those_of_the_column() -> None:
    edition = BoardCache(FixedSource(snapshot([entry(1, 0.3, model="Scored")]))).refresh()
    boards = [edition.board()]
    lines = sorted_lines(judge_lines(boards), boards, "vl-rewardbench", "")
    keys = [cell.leading.key for line in lines if (cell := line.cells[0]) is not None and cell.leading is not None]
    assert {*keys} == {"macro", "overall"}
    assert keys == sorted(keys)  # macro, the headline, before overall
