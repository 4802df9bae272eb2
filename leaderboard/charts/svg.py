"""SVG of a chart: draws the part of Plotly's JSON that the charts use, in the page or as a file of its own.

What lies over marks says their numbers (`<title>`), so a figure without a script answers to the pointer. Colours are
attributes: in a page they are the variables of its style sheet, so that one drawing serves a light and a dark ground.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from leaderboard.charts.colours import FONTS, LIGHT, Palette
from leaderboard.charts.layout import faded
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.json_types import Json

_LINE_HEIGHT = 1.3  # of a text, in its size
_RGBA = re.compile(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)")
_MARKUP = re.compile(r"(</?b>|<span style='font-size:(\d+)px'>|</span>)")
_BOLD = re.compile(r"<b>(.*?)</b>")
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_TITLES = 900  # cells of a heat map that say their numbers; more are drawn as one path for each shade


@dataclass(frozen=True, slots=True)
class Paint:
    """How colours are written. ``names``: a colour of the palette -> what stands for it."""

    names: Mapping[str, str]

    def __call__(self, attribute: str, colour: str) -> str:
        """Return the attribute with a colour, and its opacity where it is not 1."""
        alpha = ""
        if parts := _RGBA.fullmatch(colour):
            colour = "#{:02x}{:02x}{:02x}".format(*map(int, parts.groups()[:3]))
            alpha = f' {attribute}-opacity="{parts[4]}"'
        return f' {attribute}="{self.names.get(colour, colour)}"{alpha}'


PLAIN = Paint({})


def page_paint(spec: BenchmarkSpec) -> Paint:
    """Return the light palette as variables of the pages' style sheet."""
    tokens = ("ink", "soft", "faint", "line", "ground", "raised", "chance", "shade")
    names = {getattr(LIGHT, token): f"var(--{token})" for token in tokens}
    return Paint({**{category.colour: f"var(--{category.key})" for category in spec.categories}, **names})


@dataclass(frozen=True, slots=True)
class _Axis:
    """A linear axis in pixels of the drawing."""

    start: float
    end: float
    low: float
    high: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


class _Drawing:
    """A figure's JSON with its axes."""

    def __init__(self, drawn: Json, width: int, *, paint: Paint, ground: str) -> None:
        self.traces: Sequence[Json] = drawn["data"]
        self.layout: Json = drawn["layout"]
        self.width, self.height = width, self.layout["height"]
        self.paint, self.ground = paint, ground
        self.top = self.layout["margin"]["t"]
        self.bottom = self.height - self.layout["margin"]["b"]

    def x(self, name: str) -> _Axis:
        axis = self.layout.get(name.replace("x", "xaxis", 1), {})
        start, end = axis.get("domain", (0, 1))
        return _Axis(start * self.width, end * self.width, *axis.get("range", (0, 1)))

    def y(self, name: str) -> _Axis:
        axis = self.layout.get(name.replace("y", "yaxis", 1), {})
        start, end = axis.get("domain", (0, 1))
        return _Axis(self._from_below(start), self._from_below(end), *axis.get("range", (0, 1)))

    def across(self, value: float, ref: str) -> float:
        """Return a place from the left: in data, or as a fraction of the width or of an axis."""
        if ref == "paper":
            return value * self.width
        name, _, domain = ref.partition(" ")
        axis = self.x(name)
        return axis.start + value * (axis.end - axis.start) if domain else axis.at(value)

    def down(self, value: float, ref: str) -> float:
        """Return a place from the top: in data, or as a fraction of the height."""
        return self._from_below(value) if ref == "paper" else self.y(ref).at(value)

    def _from_below(self, share: float) -> float:
        return float(self.bottom - share * (self.bottom - self.top))


def svg(drawn: Json, width: int, *, p: Palette, name: str, paint: Paint = PLAIN) -> str:
    """Return a drawing as SVG. ``name`` says what it shows; with PLAIN paint it is a file, with ground and fonts."""
    drawing = _Drawing(drawn, width, paint=paint, ground=p.ground)
    box = f'width="{width}" height="{drawing.height:g}" viewBox="0 0 {width} {drawing.height:g}"'
    alone = f' xmlns="http://www.w3.org/2000/svg" font-family="{FONTS}"' if paint is PLAIN else ""
    parts = [f'<svg class="plot"{alone} {box} role="img" aria-label="{escape(name)}" font-size="13">']
    if paint is PLAIN:
        parts.append(f'<rect width="{width}" height="{drawing.height:g}" fill="{p.ground}"/>')
    for draw in (_shapes, _axes, _traces, _annotations):
        parts += draw(drawing)
    return "".join([*parts, "</svg>"])


# --- axes and lines beneath the data ----------------------------------------------------------------------------------


def _shapes(drawing: _Drawing) -> Iterator[str]:
    """Yield lines, one path for all of a colour."""
    paths: dict[str, list[str]] = {}
    for shape in drawing.layout["shapes"]:
        x = [drawing.across(shape[end], shape["xref"]) for end in ("x0", "x1")]
        y = [drawing.down(shape[end], shape["yref"]) for end in ("y0", "y1")]
        paths.setdefault(shape["line"]["color"], []).append(_line(x, y))
    for colour, lines in paths.items():
        yield f'<path d="{"".join(lines)}"{drawing.paint("stroke", colour)} fill="none"/>'


def _line(x: Sequence[float], y: Sequence[float]) -> str:
    points = [f"{_n(across)} {_n(down)}" for across, down in zip(x, y, strict=True)]
    return f"M{points[0]}L{' '.join(points[1:])}"


def _axes(drawing: _Drawing) -> Iterator[str]:
    for key, axis in drawing.layout.items():
        if re.fullmatch(r"xaxis\d*", key):
            yield from _x_axis(drawing, key.replace("axis", ""), axis=axis)
        elif re.fullmatch(r"yaxis\d*", key):
            yield from _y_axis(drawing, key.replace("axis", ""), axis=axis)


def _x_axis(drawing: _Drawing, name: str, *, axis: Json) -> Iterator[str]:
    scale = drawing.x(name)
    floor = drawing.y(axis["anchor"]).start if "anchor" in axis else float(drawing.bottom)
    if axis["showline"]:
        path = _line((scale.start, scale.end), (floor, floor))
        yield f'<path d="{path}"{drawing.paint("stroke", axis["linecolor"])} fill="none"/>'
    if axis.get("showticklabels", True):
        places = axis.get("tickvals", ())
        for value, text in zip(places, axis.get("ticktext") or map(str, places), strict=False):
            yield _text(
                drawing,
                _TextPlace(scale.at(value), floor + 4, anchor="middle", vertical="top"),
                text=text,
                font=axis["tickfont"],
            )


def _y_axis(drawing: _Drawing, name: str, *, axis: Json) -> Iterator[str]:
    if not axis.get("showticklabels", True):
        return
    scale = drawing.y(name)
    beside = drawing.x(axis.get("anchor", "x"))
    values = nice_ticks(scale.low, scale.high, most=axis.get("nticks", 6))
    if axis["showgrid"]:
        path = "".join(_line((beside.start, beside.end), (scale.at(value),) * 2) for value in values)
        yield f'<path d="{path}"{drawing.paint("stroke", axis["gridcolor"])} fill="none"/>'
    for value in values:
        yield _text(
            drawing,
            _TextPlace(beside.start - 6, scale.at(value), anchor="end", vertical="middle"),
            text=f"{value:g}",
            font=axis["tickfont"],
        )


def nice_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Return round numbers between two values, at most so many."""
    raw = (high - low) / max(1, most)
    power = 10 ** math.floor(math.log10(raw))
    step = next((power * factor for factor in _STEPS if power * factor >= raw), 10 * power)
    return [round(step * at, 6) for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


# --- data -------------------------------------------------------------------------------------------------------------


def _traces(drawing: _Drawing) -> Iterator[str]:
    below: Json = {}
    for trace in drawing.traces:
        kind = trace["type"]
        if kind == "heatmap":
            yield from _heat_map(drawing, trace)
        elif kind == "bar":
            yield from _bars(drawing, trace)
        else:
            if trace.get("fill") == "tonexty":
                yield _band(drawing, below, above=trace)
            yield from _scatter(drawing, trace)
        below = trace


def _places(drawing: _Drawing, trace: Json) -> tuple[list[float], list[float]]:
    across, up = drawing.x(trace.get("xaxis", "x")), drawing.y(trace.get("yaxis", "y"))
    return [across.at(value) for value in trace["x"]], [up.at(value) for value in trace["y"]]


def _scatter(drawing: _Drawing, trace: Json) -> Iterator[str]:
    x, y = _places(drawing, trace)
    if "lines" in trace["mode"] and trace["line"]["width"]:
        line = trace["line"]
        dash = ' stroke-dasharray="2 4"' if line.get("dash") == "dot" else ""
        path = _steps(x, y) if line.get("shape") == "hv" else _line(x, y)
        stroke = drawing.paint("stroke", line["color"])
        yield f'<path d="{path}"{stroke} stroke-width="{line["width"]}"{dash} fill="none"/>'
    if "markers" in trace["mode"]:
        yield from _error_bars(drawing, trace, x=x, y=y)
        yield from _markers(drawing, trace, x=x, y=y)


def _steps(x: Sequence[float], y: Sequence[float]) -> str:
    later = [f"H{_n(across)}V{_n(down)}" for across, down in zip(x[1:], y[1:], strict=True)]
    return f"M{_n(x[0])} {_n(y[0])}{''.join(later)}"


def _band(drawing: _Drawing, below: Json, *, above: Json) -> str:
    (x, low), (_, high) = _places(drawing, below), _places(drawing, above)
    path = _line([*x, *x[::-1]], [*low, *high[::-1]])
    return f'<path d="{path}Z"{drawing.paint("fill", above["fillcolor"])}/>'


def _error_bars(drawing: _Drawing, trace: Json, *, x: Sequence[float], y: Sequence[float]) -> Iterator[str]:
    """Yield intervals, one path for all of a trace."""
    for axis, scale in (("x", drawing.x(trace.get("xaxis", "x"))), ("y", drawing.y(trace.get("yaxis", "y")))):
        bars = trace.get(f"error_{axis}")
        if bars is None:
            continue
        ends = zip(trace[axis], bars["arrayminus"], bars["array"], strict=True)
        reaches = [(scale.at(value - down), scale.at(value + up)) for value, down, up in ends]
        lines = [
            _line(reach, (below, below)) if axis == "x" else _line((across, across), reach)
            for across, below, reach in zip(x, y, reaches, strict=True)
            if reach[0] != reach[1]
        ]
        if lines:
            stroke = drawing.paint("stroke", bars["color"])
            yield f'<path d="{"".join(lines)}"{stroke} stroke-width="{bars["thickness"]}" fill="none"/>'


def _markers(drawing: _Drawing, trace: Json, *, x: Sequence[float], y: Sequence[float]) -> Iterator[str]:
    marker = trace["marker"]
    look = drawing.paint("fill", marker["color"])
    if "line" in marker:
        look += f'{drawing.paint("stroke", marker["line"]["color"])} stroke-width="{marker["line"]["width"]}"'
    texts = trace.get("hovertext") or [""] * len(x)
    yield f"<g{look}>"
    for across, down, text in zip(x, y, texts, strict=True):
        yield _SYMBOLS[marker.get("symbol", "circle")](across, down, marker["size"] / 2).format(_title(text))
    yield "</g>"


def _circle(x: float, y: float, r: float) -> str:
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}">{{}}</circle>'


def _outline(*corners: tuple[float, float]) -> Callable[[float, float, float], str]:
    """Return a symbol from its corners, in units of its radius."""

    def symbol(x: float, y: float, r: float) -> str:
        across, down = ([place + r * corner[axis] for corner in corners] for axis, place in ((0, x), (1, y)))
        return f'<path d="{_line(across, down)}Z">{{}}</path>'

    return symbol


def _star() -> list[tuple[float, float]]:
    angles = [(math.pi * at / 5, 1.25 if at % 2 == 0 else 0.5) for at in range(10)]
    return [(reach * math.sin(angle), -reach * math.cos(angle)) for angle, reach in angles]


_CROSS = ((0, -0.5), (0.6, -1), (1, -0.6), (0.5, 0), (1, 0.6), (0.6, 1))
_SYMBOLS: Mapping[str, Callable[[float, float, float], str]] = {
    "circle": _circle,
    "square": _outline((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": _outline((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": _outline((0, -1.15), (1.15, 0.9), (-1.15, 0.9)),
    "x": _outline(*_CROSS, *((-x, -y) for x, y in _CROSS)),
    "star": _outline(*_star()),
}


def _bars(drawing: _Drawing, trace: Json) -> Iterator[str]:
    across, up = drawing.x(trace["xaxis"]), drawing.y(trace["yaxis"])
    wide = across.at(trace["width"]) - across.at(0)
    for value, count, text, hover in zip(trace["x"], trace["y"], trace["text"], trace["hovertext"], strict=True):
        middle, head, foot = across.at(value), up.at(count), up.at(0)
        box = f'x="{_n(middle - wide / 2)}" y="{_n(head)}" width="{_n(wide)}" height="{_n(foot - head)}"'
        yield f"<rect {box}{drawing.paint('fill', trace['marker']['color'])}>{_title(hover)}</rect>"
        yield _text(
            drawing, _TextPlace(middle, head - 3, anchor="middle", vertical="bottom"), text=text, font=trace["textfont"]
        )


def _heat_map(drawing: _Drawing, trace: Json) -> Iterator[str]:
    across, down = drawing.x("x"), drawing.y("y")
    wide = across.at(1) - across.at(0) - trace["xgap"]
    rows = [down.at(value) for value in trace["y"]]
    tall = (rows[1] - rows[0] if len(rows) > 1 else trace["dy"]) - trace["ygap"]
    (_, weak), (_, strong) = trace["colorscale"]
    strengths = trace.get("customdata") or [[1.0] * len(line) for line in trace["z"]]
    cells: list[_ShadedCell] = []
    for y, values, hovers, visible in zip(rows, trace["z"], trace["hovertext"], strengths, strict=True):
        for at, (value, hover, text) in enumerate(zip(values, hovers, visible, strict=True)):
            if value is not None:
                share = (value - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
                alpha = round(min(1, max(0, share)) * text, 2)
                cells.append(_ShadedCell(across.at(at) - wide / 2, y - tall / 2, alpha=alpha, hover=hover))
    if len(cells) > _MOST_TITLES:
        yield from _shaded_paths(cells, (wide, tall), strong=strong, paint=drawing.paint)
        return
    for cell in cells:
        box = f'x="{_n(cell.x)}" y="{_n(cell.y)}" width="{_n(wide)}" height="{_n(tall)}"'
        shade = drawing.paint("fill", faded(strong, cell.alpha))
        yield f"<rect {box}{drawing.paint('fill', weak)}/><rect {box}{shade}>{_title(cell.hover)}</rect>"


class _ShadedCell(NamedTuple):
    """A cell of a heat map: its corner, how strong its shade is, and what is said of it."""

    x: float
    y: float
    alpha: float
    hover: str


def _shaded_paths(
    cells: Sequence[_ShadedCell], size: tuple[float, float], *, strong: str, paint: Paint
) -> Iterator[str]:
    """Yield one path for all cells of a shade."""
    wide, tall = size
    shades: dict[float, list[str]] = {}
    for cell in cells:
        shades.setdefault(cell.alpha, []).append(f"M{_n(cell.x)} {_n(cell.y)}h{_n(wide)}v{_n(tall)}h-{_n(wide)}z")
    for alpha, boxes in sorted(shades.items()):
        yield f'<path d="{"".join(boxes)}"{paint("fill", faded(strong, alpha))}/>'


def _title(text: str) -> str:
    """Return what is said of a mark; its markup becomes lines."""
    return f"<title>{_MARKUP.sub('', text.replace('<br>', chr(10)))}</title>" if text else ""


# --- words ------------------------------------------------------------------------------------------------------------

_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def _annotations(drawing: _Drawing) -> Iterator[str]:
    for note in drawing.layout["annotations"]:
        x = drawing.across(note["x"], note["xref"]) + note.get("xshift", 0)
        y = drawing.down(note["y"], note["yref"]) - note.get("yshift", 0)
        if note.get("textangle"):
            inner = _text(
                drawing, _TextPlace(0, 0, anchor="start", vertical="middle"), text=note["text"], font=note["font"]
            )
            yield f'<g transform="translate({_n(x)} {_n(y)}) rotate(-90)">{inner}</g>'
            continue
        halo = ""
        if "bgcolor" in note:  # so that lines do not strike a name through
            halo = f'{drawing.paint("stroke", drawing.ground)} stroke-width="4" paint-order="stroke"'
        place = _TextPlace(x, y, anchor=_ANCHORS[note["xanchor"]], vertical=note["yanchor"])
        yield _text(drawing, place, text=note["text"], font=note["font"], more=halo)


class _TextPlace(NamedTuple):
    """A place where the box of a text begins, ends, or has its middle."""

    x: float
    y: float
    anchor: str
    vertical: str


def _text(drawing: _Drawing, place: _TextPlace, *, text: str, font: Json, more: str = "") -> str:
    """Return a text at a place; ``more``: further attributes."""
    if not text:
        return ""
    size, lines = font["size"], _BOLD.sub(_each_line_bold, text).split("<br>")
    tall = size * _LINE_HEIGHT
    top = place.y - tall * len(lines) * {"top": 0, "middle": 0.5, "bottom": 1}[place.vertical]
    anchored = "" if place.anchor == "start" else f' text-anchor="{place.anchor}"'
    look = drawing.paint("fill", font["color"]) + ("" if size == 13 else f' font-size="{size:g}"')
    first = f'x="{_n(place.x)}" y="{_n(top + tall / 2 + 0.36 * size)}"'
    spans = [_spans(lines[0])]
    spans += [f'<tspan x="{_n(place.x)}" dy="{_n(tall)}">{_spans(line)}</tspan>' for line in lines[1:]]
    return f"<text {first}{anchored}{look}{more}>{''.join(spans)}</text>"


def _each_line_bold(match: re.Match[str]) -> str:
    return "<br>".join(f"<b>{line}</b>" for line in match[1].split("<br>"))


def _spans(line: str) -> str:
    """Return a line whose bold and small parts are elements of SVG."""

    def element(match: re.Match[str]) -> str:
        if match[2]:
            return f'<tspan font-size="{match[2]}">'
        return '<tspan font-weight="600">' if match[1] == "<b>" else "</tspan>"

    return _MARKUP.sub(element, line)


def _n(value: float) -> str:
    """Return a number with one decimal at most."""
    return f"{round(value, 1):g}"
