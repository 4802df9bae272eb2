"""Sections of the board, and the reported results of one judge in one row."""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.board.api import leaderboard_json
from leaderboard.ranking.parameters import SECTIONS, BoardQuery, chosen, select
from leaderboard.ranking.reported_results import ReportedFigures
from leaderboard.ranking.rows import Board, build_board
from tests.factories.snapshots import baselines, entry, snapshot
from tests.factories.specs import VL, verdict
from vlrb.baselines import BASELINES

COUNTED = len(BASELINES) - 2  # the snapshot has no majority, and no earlier labels


def reported(name: str, macro: float | None, **facts: Any) -> ReportedFigures:
    figures = dict.fromkeys(("general", "hallucination", "reasoning", "overall"), 60.0) | {"macro": macro}
    known = {"source": "", "url": "", "check": verdict(), **facts}
    return ReportedFigures(id=f"r-{name}", name=name, figures=figures, **known, spec=VL)


FAMILY = (
    reported("Judge X (others)", 99.0),
    reported("Judge X", 70.0, reported_by="authors"),
    reported("Judge X voting", 80.0, stated_judge="Judge X", votes_per_item=5, reported_by="authors"),
    reported("Judge Y", 75.0),
)


def sectioned() -> Board:
    return build_board(
        {**snapshot([entry(1, 0.7), entry(2, 0.45)]), "baselines": baselines(False)}, VL, published=FAMILY
    )


def test_ranked_rows_stand_first_then_one_reported_row_of_each_judge_and_baselines_are_apart() -> None:
    found = select(sectioned(), BoardQuery(VL))
    assert [row.tier for row in found.rows] == ["scored", "scored", "reported", "reported"]
    assert found.rows[0].rank == 1
    assert [row.model for row in found.of("reported")] == ["Judge Y", "Judge X"]
    assert [row.model for row in found.others["r-Judge X"]] == ["Judge X voting", "Judge X (others)"]
    assert (found.total, len(found.baselines)) == (4, COUNTED)


def test_versions_of_a_judge_stand_without_a_rank_below_the_ranked_one_in_every_order() -> None:
    body = {**snapshot([entry(1, 0.5), entry(2, 0.7), entry(3, 0.6)]), "versions": {"e00000000001": "e00000000002"}}
    board = build_board(body, VL)
    for view in (BoardQuery(VL), BoardQuery(VL, descending=False), BoardQuery(VL, sort="model")):
        found = select(board, view)
        assert {row.id[-1]: row.rank for row in found.rows} == {"2": 1, "3": 2}
        assert [(row.id[-1], row.rank) for row in found.others["e00000000002"]] == [("1", None)]
    assert [row.id[-1] for row in select(board, BoardQuery(VL, search='"judge 1"')).rows] == ["1"]


@pytest.mark.parametrize("key", ["macro", "model", "date", "general"])
@pytest.mark.parametrize("descending", [True, False])
def test_sections_stay_apart_whatever_orders_them(key: str, descending: bool) -> None:
    rows = chosen(sectioned(), BoardQuery(VL, sort=key, descending=descending))
    tiers = [row.tier for row in rows]
    assert tiers == sorted(tiers, key=SECTIONS.index)
    assert len(rows) == 6 + COUNTED  # every report is a row of the files


def test_a_report_that_alone_is_asked_for_is_not_folded_away() -> None:
    board = sectioned()
    for search, names in (('"judge x (others)"', [FAMILY[0].name]), ('"judge x"', [row.name for row in FAMILY[:3]])):
        found = select(board, BoardQuery(VL, search=search))
        assert sorted(row.model for row in found.of("reported")) == sorted(names)
        assert not found.others


def test_json_keeps_one_order_of_all_reports_each_with_its_judge() -> None:
    entries = leaderboard_json(sectioned())["entries"]
    assert [entry["macro"] for entry in entries] == sorted((entry["macro"] for entry in entries), reverse=True)
    found = {entry["model"]: (entry["tier"], entry["judge"], entry["judge_name"]) for entry in entries}
    assert found["Judge X voting"] == found["Judge X (others)"] == ("reported", "judge-x", "Judge X")
    assert found["Judge 1"] == ("scored", "judge-1", "Judge 1")


def test_an_entry_may_state_its_judge_and_takes_the_name_that_is_known() -> None:
    body = snapshot([entry(1, 0.6, model="My run (b)", judge="judge  x"), entry(2, 0.5, model="Judge Z (a)")])
    rows = {row.model: (row.judge, row.judge_name) for row in build_board(body, VL, published=FAMILY).rows}
    assert rows["My run (b)"] == ("judge-x", "Judge X")
    assert rows["Judge Z (a)"] == ("judge-z", "Judge Z")
