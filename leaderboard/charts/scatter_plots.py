"""Scatter plots with fits, bands and steps; histograms; agreement matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from leaderboard.charts.bias import Band
from leaderboard.charts.colours import Palette
from leaderboard.charts.layout import (
    CHANCE,
    SMALL,
    ChartText,
    Page,
    bare_axis,
    base_layout,
    error_bars,
    faded,
    fitting,
    hairline,
    label,
    name_lines,
    names_width,
    plain,
    text_width,
    under,
)
from vlrb.common.json_types import Json
from vlrb.common.messages import _

CELLS_WITH_NUMBERS = 12  # judges; more leave no room for a number in each cell
_HEIGHT, _NARROW_HEIGHT, _BARS = 380, 320, 190
_NUMBERED, _TWO_LINES = 24, 33  # beside the names of a matrix; the height of a row that has room for two lines
_FROM_TICKS = 4  # pixels between the vertical axis and a name
_BETWEEN, _BESIDE, _EDGE = 56, 40, 14  # between planes; room for the numbers of an axis; for half of the last tick
_LETTER, _TALL = 12, 16  # of a label: size, height
_APART, _FARTHEST = 10, 200  # of points that stand side by side: between two, and from their place

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Point2D:
    """A point with its intervals. Those with ``rank`` get their name where there is room, the lowest first.

    ``faint``: one of many, behind those that a figure is about.
    """

    name: str
    x: float
    y: float
    hover: str
    hollow: bool = False
    y_ends: tuple[float, float] | None = None
    x_ends: tuple[float, float] | None = None
    rank: int | None = None
    faint: bool = False


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """One pair of axes. ``ticks`` and ``levels`` are places with their names; ``steps`` lines (x, y, hollow)."""

    title: str
    subtitle: str  # beside the title, on a telephone beneath it
    under: str  # what the horizontal axis measures
    spots: Sequence[Point2D]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    ticks: Sequence[tuple[float, str]]
    levels: Sequence[tuple[float, str]] = ()
    band: Band | None = None
    steps: Sequence[tuple[Sequence[float], Sequence[float], bool]] = field(default_factory=tuple)
    upright: bool = False  # the chance line, from the horizontal axis
    swarm: bool = False  # points that would hide one another stand side by side


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a plane is, in pixels of the drawing."""

    left: float
    right: float
    top: float
    bottom: float
    plane: ScatterPanel

    def x(self, value: float) -> float:
        low, high = self.plane.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.plane.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


def planes(scatter_panels: Sequence[ScatterPanel], page: Page, *, words: ChartText) -> Json:
    """Planes beside one another, on a telephone above one another; names stand at the points where there is room.

    What the vertical axis measures is above a plane that is alone, and beneath several.
    """
    p, count = page.palette, len(scatter_panels)
    alone = count == 1 and not scatter_panels[0].title
    tall = _NARROW_HEIGHT if page.narrow else _HEIGHT
    block = tall + (_BETWEEN + 44 if page.narrow else 0)
    height = (block * (count - 1) if page.narrow else 0) + tall
    layout = base_layout(page, words, height=height, above=26 if alone else 44 if page.narrow else 26)
    wide = page.width if page.narrow else (page.width - _BETWEEN * (count - 1)) / count
    traces: list[Json] = []
    for index, plane in enumerate(scatter_panels):
        left = (0 if page.narrow else index * (wide + _BETWEEN)) + _BESIDE
        top = index * block if page.narrow else 0
        place = _Place(left, left - _BESIDE + wide - _EDGE, top=top, bottom=top + tall, plane=plane)
        if plane.swarm:
            plane = replace(plane, spots=_side_by_side(place))
            place = replace(place, plane=plane)
        tail = str(index + 1) if index else ""
        _axes(layout, place, tail=tail, page=page, height=height)
        traces += _plane_traces(plane, tail, p=p)
        layout["annotations"] += _plane_words(place, tail, page=page, height=height)
    if alone:
        layout["annotations"].append(label(0, 1, text=page.text(words.axis), colour=p.soft, yanchor="bottom", yshift=8))
        layout["margin"]["b"] += 8
        layout["height"] += 8
    else:
        under(
            layout,
            page,
            text=words.axis,
            shift=48 if any(scatter_panel.under for scatter_panel in scatter_panels) else 42,
        )
    return {"data": traces, "layout": layout}


def _side_by_side(place: _Place) -> list[Point2D]:
    """Return the points of a plane, moved across until none hides another; the best of a place stays where it is."""
    taken: list[tuple[float, float]] = []
    moved = {}
    low, high = place.plane.x_range
    for at, spot in sorted(enumerate(place.plane.spots), key=lambda numbered: -numbered[1].y):
        x, y = place.x(spot.x), place.y(spot.y)
        near = [other for other in taken if abs(other[1] - y) < _APART and abs(other[0] - x) < _FARTHEST]
        steps = (x + sign * _APART * step for step in range(_FARTHEST // _APART) for sign in (1, -1))
        free = (step for step in steps if all(math.dist((step, y), other) >= _APART for other in near))
        there = min(max(next(free, x), place.left), place.right)
        taken.append((there, y))
        moved[at] = replace(spot, x=low + (there - place.left) / (place.right - place.left) * (high - low))
    return [moved[at] for at in range(len(moved))]


def _axes(layout: Json, place: _Place, *, tail: str, page: Page, height: int) -> None:
    p, plane = page.palette, place.plane
    across = [place.left / page.width, place.right / page.width]
    up = [1 - place.bottom / height, 1 - place.top / height]
    at, names = [value for value, _ in plane.ticks], [page.text(name) for _, name in plane.ticks]
    layout[f"xaxis{tail}"] = bare_axis(
        p, range=list(plane.x_range), domain=across, anchor=f"y{tail}", tickvals=at, ticktext=names
    ) | {"showline": True, "linecolor": p.line}
    layout[f"yaxis{tail}"] = bare_axis(p, range=list(plane.y_range), domain=up, anchor=f"x{tail}", nticks=6) | {
        "showgrid": True,
        "gridcolor": p.line,
    }
    if plane.upright:
        line = hairline((CHANCE, CHANCE), plane.y_range, colour=p.chance, xref=f"x{tail}")
        layout["shapes"].append({**line, "yref": f"y{tail}"})
    for value, _name in plane.levels:
        line = hairline(plane.x_range, (value, value), colour=p.chance, xref=f"x{tail}")
        layout["shapes"].append({**line, "yref": f"y{tail}"})


def _plane_traces(plane: ScatterPanel, tail: str, *, p: Palette) -> list[Json]:
    axes: Json = {"type": "scatter", "xaxis": f"x{tail}", "yaxis": f"y{tail}"}
    traces: list[Json] = []
    if plane.band is not None:
        x, low, middle, high = plane.band
        thin: Json = {"mode": "lines", "hoverinfo": "skip", "line": {"width": 0, "color": p.soft}}
        traces.append({**axes, **thin, "x": x, "y": low})
        shade = {"fill": "tonexty", "fillcolor": faded(p.soft, 0.14)}
        traces.append({**axes, **thin, **shade, "x": x, "y": high})
        traces.append({**axes, **thin, "line": {"width": 1.5, "color": p.soft}, "x": x, "y": middle})
    for xs, ys, hollow in plane.steps:
        line = {"shape": "hv", "width": 1.5, "color": p.soft, "dash": "dot" if hollow else "solid"}
        traces.append({**axes, "mode": "lines", "hoverinfo": "skip", "line": line, "x": list(xs), "y": list(ys)})
    for faint, hollow in ((True, True), (True, False), (False, True), (False, False)):  # what is on top comes last
        spots = [spot for spot in plane.spots if (spot.faint, spot.hollow) == (faint, hollow)]
        if spots:
            traces.append({**axes, **_spot_trace(spots, hollow, p=p, colour=p.chance if faint else p.ink)})
    return traces


def _spot_trace(spots: Sequence[Point2D], hollow: bool, *, p: Palette, colour: str) -> Json:
    fill: Json = {"color": p.ground, "line": {"color": colour, "width": 1.6}} if hollow else {"color": colour}
    alpha = 0.12 if hollow else 0.3
    trace: Json = {
        "mode": "markers",
        "x": [spot.x for spot in spots],
        "y": [spot.y for spot in spots],
        "marker": {**fill, "size": 9 if colour == p.ink else 7},
        "cliponaxis": False,
        "hovertext": [spot.hover for spot in spots],
        "hoverinfo": "text",
    }
    for axis, ends in (("y", [spot.y_ends for spot in spots]), ("x", [spot.x_ends for spot in spots])):
        at = [getattr(spot, axis) for spot in spots]
        if any(ends):
            above = [end[1] - value if end else 0.0 for end, value in zip(ends, at, strict=True)]
            below = [value - end[0] if end else 0.0 for end, value in zip(ends, at, strict=True)]
            trace[f"error_{axis}"] = error_bars(p.ink, alpha, above=above, below=below)
    return trace


def _plane_words(place: _Place, tail: str, *, page: Page, height: int) -> list[Json]:
    """Title, axis, levels, and the names of points."""
    p, plane = page.palette, place.plane
    left, bottom = place.left / page.width, 1 - place.bottom / height
    notes = [label(left, bottom, text=page.text(plane.under), colour=p.soft, yanchor="top", yshift=-26)]
    if plane.title:
        top = 1 - place.top / height
        words = f"<b>{plain(page.text(plane.title))}</b>{'<br>' if page.narrow else '  '}{SMALL.format(plane.subtitle)}"
        at_top: Json = {"yanchor": "bottom", "align": "left", "yshift": 8}
        notes.append(label((place.left - _BESIDE) / page.width, top, text=words, colour=p.ink, **at_top))
    taken: list[Box] = []
    dots = [(place.x(spot.x), place.y(spot.y)) for spot in plane.spots]
    for value, level in plane.levels:
        name = page.text(level)
        y, width = place.y(value), text_width(name, _LETTER)
        between = range(int(place.left), int(place.right - width), 24)
        sides: list[Box] = [(start, y - 18, start + width, y) for start in (place.right - width, *between)]
        free = [side for side in sides if not any(_overlap(side, (x - 6, v - 6, x + 6, v + 6)) for x, v in dots)]
        side = (free or sides)[0]
        taken.append(side)
        at: Json = {"xref": "paper", "yref": f"y{tail}", "xanchor": "left", "yanchor": "bottom", "yshift": 1}
        notes.append(label(side[0] / page.width, value, text=plain(name), colour=p.soft, size=_LETTER, **at))
    return notes + _spot_names(place, taken, tail=tail, page=page)


def _spot_names(place: _Place, taken: list[Box], *, tail: str, page: Page) -> list[Json]:
    """Return each name beside its point where it hides neither a point nor another name; else it is under the
    pointer only."""
    spots = [(place.x(spot.x), place.y(spot.y), spot) for spot in place.plane.spots]
    dots = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in spots]
    notes = []
    named = sorted((spot for spot in spots if spot[2].rank is not None), key=lambda spot: spot[2].rank or 0)
    for x, y, spot in named:
        name = fitting(spot.name, 140 if page.narrow else 220, size=_LETTER)
        width = text_width(name, _LETTER)
        for left, top in _beside(x, y, width=width, steps=bool(place.plane.steps)):
            box = (left, top, left + width, top + _TALL)
            inside = left >= place.left + _FROM_TICKS and box[2] <= place.right + _EDGE
            own = (x - 6, y - 6, x + 6, y + 6)
            if not inside or top < place.top + 2 or box[3] > place.bottom:  # the line at the top strikes no name
                continue
            if any(_overlap(box, other) for other in (*taken, *(dot for dot in dots if dot != own))):
                continue
            taken.append(box)
            at: Json = {"xref": f"x{tail}", "yref": f"y{tail}", "xanchor": "left", "yanchor": "middle"}
            shift: Json = {"xshift": left - x, "yshift": y - (top + _TALL / 2)}
            colour = page.palette.soft if spot.hollow else page.palette.ink
            ground: Json = {"bgcolor": faded(page.palette.ground, 0.8)}  # lines must not strike names through
            notes.append(label(spot.x, spot.y, text=plain(name), colour=colour, size=_LETTER, **at, **shift, **ground))
            break
    return notes


def _beside(x: float, y: float, *, width: float, steps: bool) -> list[tuple[float, float]]:
    """Return where a name could begin (left, top): right of its point, left, above, below, and towards the corners.

    Where lines leave points to the right and downwards, above comes first.
    """
    middle, above, below = y - _TALL / 2, y - _TALL - 7, y + 7
    right, left, centre = x + 9, x - 9 - width, x - width / 2
    corners = [(x - width + 4, above), (x - 4, above)]
    return [
        *(corners if steps else ()),
        (right, middle),
        (left, middle),
        (centre, above),
        (centre, below),
        *corners[::-1],
        (x - 4, below),
        (x - width + 4, below),
    ]


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


# --- bars -------------------------------------------------------------------------------------------------------------


def histograms(counts: Mapping[str, Sequence[int]], page: Page, *, words: ChartText) -> Json:
    """Return a histogram per category on common axes that begin at zero; the count is on each bar."""
    p = page.palette
    block = _BARS + 74
    categories = page.spec.category_keys
    rows = len(categories) if page.narrow else 1
    height = block * (rows - 1) + _BARS
    layout = base_layout(page, words, height=height, above=26)
    most = max(max(values) for values in counts.values())
    wide = page.width if page.narrow else (page.width - 40 * (len(categories) - 1)) / len(categories)
    traces: list[Json] = []
    for index, category in enumerate(categories):
        values, tail = list(counts.get(category, ())), str(index + 1) if index else ""
        left, top = (0.0, index * block) if page.narrow else (index * (wide + 40), 0)
        domain = [(left + 4) / page.width, (left + wide - _EDGE) / page.width]
        up = [1 - (top + _BARS) / height, 1 - top / height]
        layout[f"xaxis{tail}"] = bare_axis(
            p, range=[0, 100], domain=domain, anchor=f"y{tail}", tickvals=[0, 50, 100], ticktext=["0", "50", "100"]
        ) | {"showline": True, "linecolor": p.ink}
        scale = bare_axis(p, range=[0, 1.12 * most], domain=up, anchor=f"x{tail}", showticklabels=False)
        layout[f"yaxis{tail}"] = scale
        step = 100 / max(1, len(values))
        hovers = [
            page.text(_("{n} pairs: {low} to {high}% of judges right", n=value, low=f"{step * at:.0f}",
                        high=f"{step * (at + 1):.0f}"))
            for at, value in enumerate(values)
        ]  # fmt: skip
        trace = {
            "type": "bar",
            "x": [step * (at + 0.5) for at in range(len(values))],
            "y": values,
            "width": step * 0.9,
            "marker": {"color": page.colour(category)},
            "text": [str(value) if value else "" for value in values],
            "textposition": "outside",
            "textfont": {"color": p.ink, "size": 12},
            "cliponaxis": False,
            "hovertext": hovers,
            "hoverinfo": "text",
            "xaxis": f"x{tail}",
            "yaxis": f"y{tail}",
        }
        traces.append(trace)
        title = f"<b>{plain(page.title_of(category))}</b>  {SMALL.format(f'n {sum(values)}')}"
        layout["annotations"].append(
            label(left / page.width, up[1], text=title, colour=page.colour(category), yanchor="bottom", yshift=8)
        )
    under(layout, page, text=words.axis, shift=30)
    return {"data": traces, "layout": layout}


# --- agreement --------------------------------------------------------------------------------------------------------


def matrix(
    names: Sequence[str], values: Sequence[Sequence[float | None]], *, page: Page, words: ChartText, strength: float = 1
) -> Json:
    """Return judges x judges in shades of the ink, with numbers while there is room; nobody is compared with
    oneself."""
    p, count = page.palette, len(names)
    numbered = count <= CELLS_WITH_NUMBERS
    named = count <= 40 and not (page.narrow and count > CELLS_WITH_NUMBERS)
    above = page.narrow and named
    left = 0 if above or not named else _NUMBERED + names_width(names)
    room = page.width - left
    cell = min(64.0, room / count)
    row = 52.0 if above else max(min(36.0, cell), cell if cell < 36 else 0)
    header = 26 if named else 4
    layout = base_layout(page, words, height=int(header + row * count + 0.5))
    ys = [header + row * (at + (0.68 if above else 0.5)) for at in range(count)]
    trace = {
        "type": "heatmap",
        "x": list(range(count)),
        "y": ys,
        "z": [[None if i == j else value for j, value in enumerate(line)] for i, line in enumerate(values)],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, p.raised], [1, p.shade]],
        "showscale": False,
        "customdata": [[strength] * count] * count,
        "xgap": 2 if cell > 14 else 0,
        "ygap": 24 if above else 2 if cell > 14 else 0,
        "dy": row,
        "hovertext": [[_alike(page, row_name, other=other, value=v) for other, v in zip(names, line, strict=True)]
                      for row_name, line in zip(names, values, strict=True)],
        "hoverinfo": "text",
    }  # fmt: skip
    domain = [left / page.width, (left + cell * count) / page.width]
    layout["xaxis"] = bare_axis(p, range=[-0.5, count - 0.5], domain=domain, showticklabels=False)
    under(layout, page, text=words.axis, shift=12)
    for at, (name, y) in enumerate(zip(names, ys, strict=True)) if named else ():
        beside: Json = {"yref": "y", "align": "left"}
        layout["annotations"].append(
            label(0, y - (24 if above else 0), text=str(at + 1), colour=p.soft, size=12, **beside)
        )
        lines = [fitting(name, page.width - _NUMBERED)] if above else name_lines(name, left - _NUMBERED)
        row_name = "<br>".join(map(plain, lines if row > _TWO_LINES else [fitting(name, left - _NUMBERED - 8)]))
        place = {"xshift": _NUMBERED, **beside}
        layout["annotations"].append(label(0, y - (24 if above else 0), text=row_name, colour=p.ink, **place))
        over: Json = {"xref": "x", "yref": "y", "xanchor": "center", "yanchor": "bottom"}
        layout["annotations"].append(label(at, header - 4, text=str(at + 1), colour=p.soft, size=12, **over))
        for other, value in enumerate(values[at]) if numbered else ():
            number = (
                "" if other == at else page.text(_("none")) if value is None else f"{value:.2f}".replace("-", "\u2212")
            )
            inside: Json = {"xref": "x", "yref": "y", "xanchor": "center"}
            if other != at:
                layout["annotations"].append(
                    label(other, y, text=number, colour=p.ink, size=11 if page.narrow else 12, **inside)
                )
    return {"data": [trace], "layout": layout}


def _alike(page: Page, first: str, *, other: str, value: float | None) -> str:
    message = _("no agreement can be measured") if value is None else _("agreement {value}", value=f"{value:.3f}")
    return f"<b>{plain(first, 40)}</b><br>{plain(other, 40)}: {page.text(message)}"


def reach_of(values: Sequence[float], chance: float | None = None) -> tuple[float, float]:
    """Return the range of an axis: what is drawn, and chance (percent) where it is within ten points of it."""
    low, high = min(values), max(values)
    if chance is not None and low - 10 <= chance <= high + 10:
        low, high = min(low, chance), max(high, chance)
    pad = max(1.0, 0.08 * (high - low))
    return max(0.0, low - pad), min(100.0, high + pad)
