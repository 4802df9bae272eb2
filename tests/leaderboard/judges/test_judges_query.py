"""The judges' table takes the board's search and filters, and an address keeps what was asked for."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from leaderboard.judges.parameters import JudgesQuery, matching, read_judges_query
from leaderboard.judges.table import JudgeLine, judge_lines
from leaderboard.site.cache import BoardCache
from tests.factories.snapshots import FixedSource, entry, snapshot

BENCHMARKS = ("vl-rewardbench", "other")


@pytest.fixture(scope="module")
def lines() -> tuple[JudgeLine, ...]:
    first = [
        entry(1, 0.7, model="Open small", open_weights=True, parameters_b=7.0, organisation="Lab A"),
        entry(2, 0.6, model="Closed", open_weights=False),
    ]
    second = [
        entry(3, 0.5, model="Open small"),
        entry(4, 0.5, model="Open large", open_weights=True, parameters_b=72.0, judge_type="scalar"),
    ]
    one, other = (BoardCache(FixedSource(snapshot(found)), published=()).refresh().board() for found in (first, second))
    return judge_lines([one, replace(other, spec=replace(other.spec, id="other"))])


def _names(lines: tuple[JudgeLine, ...], query: str) -> set[str]:
    parameters = dict(pair.split("=", 1) for pair in query.split("&")) if query else {}
    return {line.name for line in matching(lines, read_judges_query(parameters, BENCHMARKS))}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"Open small", "Closed", "Open large"}),
        ("q=open", {"Open small", "Open large"}),
        ("q=open:yes size:<10", {"Open small"}),
        ("q=open large", {"Open large"}),
        ("tier=reported", set()),
    ],
)
def test_a_term_holds_where_one_row_of_the_judge_has_it(
    lines: tuple[JudgeLine, ...], query: str, names: set[str]
) -> None:
    assert _names(lines, query) == names


def test_a_tier_leaves_its_own_results(lines: tuple[JudgeLine, ...]) -> None:
    (kept, *_) = matching(lines, JudgesQuery(tier="scored"))
    assert all(not cell.reports and cell.figures for cell in kept.cells if cell is not None)


def test_an_address_keeps_what_was_asked_for() -> None:
    asked = JudgesQuery("other", False, search="a b", tier="scored", page=3)
    query = dict(parse_qsl(asked.url().partition("?")[2]))
    assert replace(read_judges_query(query, ("other",)), page=3) == asked
    assert JudgesQuery().url() == "/judges"


def test_a_second_click_on_a_heading_turns_the_order() -> None:
    once = JudgesQuery().with_sort("other")
    assert [(one.sort, one.descending) for one in (once, once.with_sort("other"), once.with_sort("name"))] == [
        ("other", True),
        ("other", False),
        ("name", False),
    ]
