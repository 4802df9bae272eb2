"""Scatter plots with lines and steps; agreement matrix, with Plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import log10
from typing import Any

import plotly.graph_objects as go

from leaderboard.charts.dot_plots import cells_figure
from leaderboard.charts.layout import (
    SMALL,
    ChartText,
    Page,
    columns_of,
    error_bars,
    faded,
    finish,
    grid,
    isolated,
    plain,
)
from leaderboard.site.colours import LIGHT
from vlrb.common.messages import _, joined

CELLS_WITH_NUMBERS = 12  # judges; more leave no room for a number in each cell
_HEIGHT, _NARROW_HEIGHT, _BETWEEN = 380, 320, 110  # pixels
_LETTER, _LINE = 7, 11  # pixels of a name
_MOST_COLUMNS = 3
_MOST_LISTED = 4  # names that found no room at their points


@dataclass(frozen=True, slots=True)
class Point2D:
    """A point with its intervals. Those with ``rank`` get their name where there is room, the lowest first.

    ``faint``: one of many, behind those that a figure is about.
    """

    name: str
    x: Any  # a number, or an ISO date
    y: float
    hover: str
    hollow: bool = False
    y_ends: tuple[float, float] | None = None
    rank: int | None = None
    faint: bool = False
    link: str = ""  # where a click leads, below the prefix of the benchmark


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """One pair of axes. ``levels`` are heights with their names; ``steps`` lines (x, y, hollow)."""

    spots: Sequence[Point2D]
    y_range: tuple[float, float]
    across: Mapping[str, Any]  # of the horizontal axis: its type, range, ticks
    title: str = ""
    subtitle: str = ""  # beside the title
    under: str = ""  # what the horizontal axis measures
    levels: Sequence[tuple[float, str]] = ()
    steps: Sequence[tuple[Sequence[Any], Sequence[float], bool]] = ()
    straight: bool = False  # steps are straight lines from point to point


def curve_panel(curves: Sequence[Sequence[Point2D]], y_range: tuple[float, float], **axes: Any) -> ScatterPanel:
    """Return a plane with straight lines through the points of each curve, whose last point has its name. ``axes``:
    further fields of the panel."""
    spots = [replace(spot, rank=at if spot is curve[-1] else None) for at, curve in enumerate(curves) for spot in curve]
    steps = [([spot.x for spot in curve], [spot.y for spot in curve], False) for curve in curves]
    return ScatterPanel(spots, y_range, steps=steps, straight=True, **axes)


def planes(scatter_panels: Sequence[ScatterPanel], page: Page, *, words: ChartText) -> go.Figure:
    """Return planes beside one another, on a telephone above one another; names stand at points where there is room."""
    tall = _NARROW_HEIGHT if page.narrow else _HEIGHT
    titles = [
        f"<b>{plain(page.text(panel.title))}</b>{'<br>' if page.narrow else '  '}{SMALL.format(panel.subtitle)}"
        for panel in scatter_panels
    ]
    figure, places, height = grid(titles, page, most=_MOST_COLUMNS, tall=tall, between=_BETWEEN, shared=False)
    wide, unnamed = 330 if page.narrow else 1130 / max(place["col"] for place in places), list[str]()
    for panel, place in zip(scatter_panels, places, strict=True):
        for xs, ys, hollow in panel.steps:
            line = {"width": 1.5, "color": LIGHT.soft, "dash": "dot" if hollow else "solid"}
            shape = "linear" if panel.straight else "hv"
            figure.add_scatter(x=xs, y=ys, mode="lines", hoverinfo="skip", line={"shape": shape, **line}, **place)
        named = _with_room(panel, page, wide=wide)
        unnamed += [spot.name for spot in panel.spots if spot.rank is not None and id(spot) not in named]
        figure.add_trace(_marks(panel, page, named=named), **place)
        for value, level in panel.levels:
            name = plain(page.text(level))
            figure.add_hline(
                y=value,
                line={"color": LIGHT.chance, "width": 1},
                layer="below",
                annotation_text=name,
                annotation_position="bottom right",
                annotation_font={"color": LIGHT.soft, "size": 12},
                **place,
            )
        figure.update_xaxes(
            showline=True, linecolor=LIGHT.line, title_text=page.text(panel.under), **panel.across, **place
        )
        figure.update_yaxes(range=panel.y_range, gridcolor=LIGHT.line, nticks=6, **place)
    if unnamed:
        names = joined(map(isolated, dict.fromkeys(unnamed)))
        if len(unnamed) > _MOST_LISTED:
            names = _("{n} (point at a dot)", n=len(unnamed))
        words = replace(words, axis=_("{axis}; not named for want of room: {names}", axis=words.axis, names=names))
    finish(figure, page, words=words, height=height, above=52 if page.narrow else 30)
    figure.update_yaxes(showgrid=True)
    if scatter_panels[0].under:
        figure.layout.annotations[-1].yshift -= 26
        figure.layout.margin.b += 26
    return figure


def _marks(panel: ScatterPanel, page: Page, *, named: Mapping[int, str]) -> go.Scatter:
    """Return the points, the faint ones beneath the others. ``named``: the places of names by the points' identity."""
    spots = sorted(panel.spots, key=lambda spot: not spot.faint)
    return go.Scatter(
        x=[spot.x for spot in spots],
        y=[spot.y for spot in spots],
        mode="markers+text",
        text=[page.name(spot.name) if id(spot) in named else "" for spot in spots],
        textposition=[named.get(id(spot), "middle right") for spot in spots],
        textfont={"size": 12, "color": LIGHT.ink},
        marker={
            "symbol": ["circle-open" if spot.hollow else "circle" for spot in spots],
            "size": [7 if spot.faint else 9 for spot in spots],
            "color": [LIGHT.chance if spot.faint else LIGHT.ink for spot in spots],
        },
        error_y=error_bars([(spot.y, spot.y_ends) for spot in spots], faded(LIGHT.ink, 0.2)),
        hovertext=[spot.hover for spot in spots],
        customdata=[spot.link for spot in spots],
        hoverinfo="text",
        cliponaxis=False,
    )


def _with_room(panel: ScatterPanel, page: Page, *, wide: float) -> dict[int, str]:
    """Return the points whose names hide neither a point nor another name, by identity, and where these stand.

    ``wide``: pixels that the plane has.
    """
    logarithmic = panel.across.get("type") == "log"
    across = [log10(spot.x) if logarithmic else _place(spot.x) for spot in panel.spots]
    low, high = panel.across.get("range") or (min(across), max(across))
    tall = _NARROW_HEIGHT if page.narrow else _HEIGHT
    scale = tall / (panel.y_range[1] - panel.y_range[0])
    at = {
        id(spot): (
            wide * (place - low) / max(high - low, 1e-9),
            scale * (spot.y - panel.y_range[0]),
        )
        for spot, place in zip(panel.spots, across, strict=True)
    }
    taken = [(x - 5, x + 5, y) for x, y in at.values()]
    taken += [
        (wide - _LETTER * columns_of(page.text(level)), wide, scale * (value - panel.y_range[0]) - 9)
        for value, level in panel.levels
    ]
    named: dict[int, str] = {}
    for spot in sorted((spot for spot in panel.spots if spot.rank is not None), key=lambda spot: spot.rank or 0):
        x, y = at[id(spot)]
        width = _LETTER * columns_of(page.name(spot.name))
        sides = (("right", x + 6), ("left", x - 6 - width), ("center", x - width / 2))
        places: list[tuple[str, float, float]] = [
            (f"{height} {side}", start, y + up)
            for height, up in (("middle", 0), ("top", 12), ("bottom", -12))
            for side, start in sides
            if height != "middle" or not (panel.steps or side == "center")
        ]
        for name, start, level in places:
            free = all(
                start > end or start + width < begin or abs(level - other) > _LINE for begin, end, other in taken
            )
            if free and start > 0 and start + width < wide and level > _LINE / 2:
                taken.append((start - 4, start + width + 4, level))
                named[id(spot)] = name
                break
    return named


def _place(x: Any) -> float:
    """Return a number as it is, of a date its day."""
    return date.fromisoformat(x).toordinal() if isinstance(x, str) else float(x)


# --- agreement --------------------------------------------------------------------------------------------------------


def matrix(
    names: Sequence[str], values: Sequence[Sequence[float | None]], *, page: Page, words: ChartText
) -> go.Figure:
    """Return judges x judges in shades of the ink, with numbers while there is room; nobody is compared with
    oneself."""
    count = len(names)
    others = [[None if i == j else value for j, value in enumerate(line)] for i, line in enumerate(values)]
    trace = go.Heatmap(
        z=others,
        text=[[_cell_text(page, value, own=i == j) for j, value in enumerate(line)] for i, line in enumerate(others)]
        if count <= CELLS_WITH_NUMBERS
        else [[""] * count] * count,
        hovertext=[
            ["" if i == j else _alike(page, names[i], other=names[j], value=value) for j, value in enumerate(line)]
            for i, line in enumerate(others)
        ],
        colorscale=[[0, LIGHT.raised], [1, LIGHT.shade]],
        zmin=0,
        zmax=1,
    )
    numbered = [f"{at + 1}  {name}" for at, name in enumerate(names)]
    return cells_figure(trace, numbered, heads=[str(at + 1) for at in range(count)], page=page, words=words)


def _cell_text(page: Page, value: float | None, *, own: bool) -> str:
    return "" if own else page.text(_("none")) if value is None else f"{value:.2f}".replace("-", "\u2212")


def _alike(page: Page, first: str, *, other: str, value: float | None) -> str:
    message = _("no agreement can be measured") if value is None else _("agreement {value}", value=f"{value:.3f}")
    return f"<b>{plain(first, 40)}</b><br>{plain(other, 40)}: {page.text(message)}"
