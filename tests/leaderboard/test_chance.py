"""Chance: a half between two responses, a third where a tie is an answer. Pages and figures mark it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leaderboard.cache import BoardCache
from leaderboard.charts.board_charts import chance_line
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate
from leaderboard.charts.layout import ChartText, Page
from leaderboard.charts.scatter_plots import Point2D
from leaderboard.render import render, style_sheet
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL

TIES = replace(
    VL,
    ties=True,
    headline=VL.pooled,
    overalls=tuple(replace(one, without_ties=one.key == VL.mean) for one in VL.overalls),
)
"""Its headline and categories are with ties, its mean without."""


def test_a_new_entry_is_held_against_what_guessing_gives_in_its_headline() -> None:
    edition = BoardCache(FixedSource(snapshot([entry(1, 0.5)]))).refresh()
    board, empty = edition.board(), ("finding", "compared", "bibtex", "badge", "base", "strips")
    facts: dict[str, Any] = {"row": board.rows[0], "board": board, "bounds": (0.4, 0.6), "settled": True}
    facts |= dict.fromkeys(empty, "")
    held = {
        spec: render(edition.context, "result_card.html", spec=spec, **facts) for spec in (VL, replace(VL, ties=True))
    }
    assert ["(50%)" in text for text in held.values()] == [True, False]
    assert ["better than guessing (33.3%)" in text for text in held.values()] == [False, True]


def test_the_mark_on_the_axes_of_a_score_is_at_its_chance() -> None:
    rules = style_sheet("", TIES)
    assert f"td.headline .ci,.strip.{VL.pooled} svg{{background-position:16.6% 0,0 50%}}" in rules
    assert f".strip.{VL.mean} " not in rules
    assert style_sheet("", VL) == ""


def test_the_line_of_each_panel_of_a_figure_is_at_its_chance() -> None:
    words, keys = ChartText("", "", ""), (VL.pooled, VL.headline)
    estimates = [dict.fromkeys(keys, Estimate(60.0, 55.0, 65.0, 100))]
    for spec, places in ((TIES, [100 / 3, 50]), (VL, [50, 50])):
        for lines in ([ChartLine("one")], [ChartLine("one"), ChartLine("two")]):
            drawn = dots(lines, estimates * len(lines), keys, Page(spec), words)
            across = {round(one["x0"], 6) for one in drawn["layout"]["shapes"] if one["x0"] == one["x1"]}
            assert across == {round(place, 6) for place in places}


def test_the_line_of_a_plane_is_at_the_chance_of_the_headline() -> None:
    spots = [Point2D("", 1.0, value, "") for value in (30.0, 60.0)]
    assert [place for place, _name in chance_line(spots, TIES)] == pytest.approx([100 / 3])
    assert [place for place, _name in chance_line(spots, VL)] == [50]
