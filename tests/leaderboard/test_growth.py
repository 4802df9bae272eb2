"""The work of exports, charts and the JSON of the board grows as rows do: whoever asks does not stop the others."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import pytest

from leaderboard.board.api import leaderboard_json
from leaderboard.charts.base import ChartQuery
from leaderboard.charts.catalog import CHARTS
from leaderboard.charts.layout import Page
from leaderboard.judges.table import judge_json, judge_lines
from leaderboard.ranking.parameters import BoardQuery
from leaderboard.ranking.rows import Board, build_board
from leaderboard.share import feed
from leaderboard.share.exports import FORMATS, extract
from tests.factories.snapshots import crowd, snapshot
from tests.factories.specs import VL

FEW, TIMES = 60, 8
MOST = 2 * TIMES  # calls: eight times as many where they are proportional to rows, 64 times where to their square


@cache
def board(count: int) -> Board:
    return replace(build_board(snapshot(crowd(count)), VL), snapshot_id="5f0c" * 16)


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called: of time it would say more, but not the same twice."""
    count = 0

    def note(frame: object, event: str, about: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _export(suffix: str, count: int) -> Callable[[], object]:
    taken = extract(board(count), BoardQuery(VL), address="https://board.example/")
    return lambda: FORMATS[suffix].write(taken)


def _chart(name: str, count: int) -> Callable[[], object]:
    entries = crowd(count)
    view = ChartQuery("v2", Page(VL), rows=board(count).rows, as_of="2026-11-21T22:00:00Z")
    return lambda: CHARTS[name].draw(entries, view)


WORK: dict[str, Callable[[int], Callable[[], object]]] = {
    **{f"export {suffix}": partial(_export, suffix) for suffix in FORMATS},
    **{f"chart {name}": partial(_chart, name) for name, kind in CHARTS.items() if not kind.of_judges},
    "board": lambda count: partial(leaderboard_json, board(count)),
    "judges": lambda count: lambda: [judge_json(line) for line in judge_lines([board(count)])],
    "feed": lambda count: partial(feed.feed, board(count), "https://board.example"),
}


@pytest.mark.parametrize("name", WORK)
def test_an_answer_about_more_rows_calls_in_proportion(name: str) -> None:
    few, many = (WORK[name](count) for count in (FEW, FEW * TIMES))
    few()  # what is made once is made before
    many()
    assert calls(many) / calls(few) <= MOST
