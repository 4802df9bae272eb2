"""Chance: a half between two responses, a third where a tie is an answer. Pages and figures mark it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from leaderboard.charts.base import ChartQuery
from leaderboard.charts.board_charts import heights
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate
from leaderboard.charts.layout import ChartText, Page
from leaderboard.charts.scatter_plots import Point2D
from leaderboard.judges import pages as judges_pages
from leaderboard.site.cache import BoardCache
from leaderboard.site.render import assets, bar_position, render, style_sheet
from leaderboard.site.render_context import RenderContext, contexts_of
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.scoring import UNREADABLE

TIES = replace(
    VL,
    ties=True,
    headline=VL.pooled,
    overalls=tuple(replace(one, without_ties=one.key == VL.mean) for one in VL.overalls),
)
"""Its headline and categories are with ties, its mean without."""


def board_of(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return a snapshot of two entries; where a tie is a label, people have made no use of it."""
    entries = [entry(number, share, model=f"Judge {number}") for number, share in ((1, 0.5), (2, 0.6))]
    for tally in (tally for one in entries for tally in one["tallies"].values() if spec.ties):
        for cells in (tally["counts"], tally["agreeing"]):
            cells.extend(cells[: len(spec.source_keys)])
        tally["counts"] = [[*row, *([0] * len(UNREADABLE))] for row in tally["counts"]]
    return snapshot(entries, spec.id)


def test_a_new_entry_is_held_against_what_guessing_gives_in_its_headline() -> None:
    board_version = BoardCache(FixedSource(snapshot([entry(1, 0.5)]))).refresh()
    board, empty = board_version.board(), ("finding", "compared", "bibtex", "badge", "base", "strips")
    facts: dict[str, Any] = {"row": board.rows[0], "board": board, "bounds": (0.4, 0.6), "settled": True}
    facts |= dict.fromkeys(empty, "")
    held = {
        spec: render(board_version.context, "result_card.html", spec=spec, **facts)
        for spec in (VL, replace(VL, ties=True))
    }
    assert ["(50%)" in text for text in held.values()] == [True, False]
    assert ["better than guessing (33.3%)" in text for text in held.values()] == [False, True]


def test_the_mark_on_the_axes_of_a_score_is_at_its_chance() -> None:
    rules = style_sheet("", TIES)
    assert f"td.{VL.pooled} .ci,.strip.{VL.pooled} svg{{background-position:16.6% 0,0 50%}}" in rules
    assert f".ranked-{VL.pooled}{{--chance-at:16.6%}}" in rules
    assert f".strip.{VL.mean} " not in rules
    assert style_sheet("", VL) == ""


@pytest.mark.parametrize(("spec", "moved"), [(TIES, {VL.pooled, *VL.category_keys}), (VL, set())])
def test_pages_draw_each_score_in_a_cell_whose_mark_the_style_sheet_moves(spec: Any, moved: set[str]) -> None:
    cache = BoardCache(FixedSource(board_of(spec)), context=RenderContext(spec=spec))
    client, rules = TestClient(board_app(cache)), style_sheet("", spec)
    drawn: set[str] = set()
    for address in ("/entries/e00000000001", "/compare?entries=e00000000001,e00000000002"):
        cells = re.findall(
            r'<td class="(?:num|drawing) (\w+)"[^>]*>\s*(?:<b>[^<]*</b>)?<svg class="ci"', client.get(address).text
        )
        assert cells, address
        drawn |= {*cells}
    assert {key for key in drawn if f"td.{key} .ci" in rules} == moved


@pytest.mark.parametrize("address", ["/judges", "/judges/judge-1"])
def test_pages_of_several_benchmarks_mark_the_chance_of_each(address: str) -> None:
    boards = [
        BoardCache(FixedSource(board_of(context.spec)), context=context, published=())
        for context in contexts_of([VL, replace(TIES, id="with-ties")])
    ]
    app = FastAPI()
    app.include_router(judges_pages.build(boards))
    drawn = re.findall(r'<svg class="(ci[^"]*)" role="img">', TestClient(app).get(address).text)
    assert drawn == ["ci", "ci third"] * (2 if address == "/judges" else 1)
    rule = f".ci.third{{background-position:{bar_position(1 / 3)}% 0,0 50%}}"
    assert rule in assets()["judges.css"].body.encodings["identity"].decode()


def test_the_line_of_each_panel_of_a_figure_is_at_its_chance() -> None:
    words, keys = ChartText("", "", axis=""), (VL.pooled, VL.headline)
    estimates = dict.fromkeys(keys, Estimate(60.0, 100, (55.0, 65.0)))
    for spec, places in ((TIES, [100 / 3, 50]), (VL, [50, 50])):
        for lines in ([ChartLine("one", estimates)], [ChartLine("one", estimates), ChartLine("two", estimates)]):
            drawn = dots(lines, keys=keys, page=Page(spec), words=words)
            assert [shape.x0 for shape in drawn.layout.shapes] == pytest.approx(places)


def test_the_line_of_a_plane_is_at_the_chance_of_the_headline() -> None:
    spots = [Point2D("", 1.0, y=value, hover="") for value in (30.0, 60.0)]
    for spec, places in ((TIES, [100 / 3]), (VL, [50])):
        lines = heights(spots, ChartQuery("v2", Page(spec)))[1]
        assert [place for place, _name in lines] == pytest.approx(places)
