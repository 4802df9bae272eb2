"""Layout shared by all charts: page size, fonts, labels, axes and error bars.

Everything is Plotly's JSON, made of nothing newer than plotly.js 3, and placed in pixels for the width of the reader's
page: the vertical axis of a drawing counts pixels from its top.
"""

from __future__ import annotations

import html
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.spec import BenchmarkSpec
from leaderboard.charts.colours import FONTS, Palette, palette
from leaderboard.charts.estimates import Estimate

NARROW = 720  # pixels; below, names stand above their lines and panels above one another
CHANCE = 50
SMALL = "<span style='font-size:12px'>{}</span>"
_NAMES = 250  # the widest column of names

Json = dict[str, Any]
Estimates = Mapping[str, Estimate | None]


@dataclass(frozen=True, slots=True)
class Page:
    """What a figure is drawn on: the width of the reader's page in pixels, and its ground; and of which benchmark."""

    spec: BenchmarkSpec
    width: int = 1200
    dark: bool = False

    @property
    def narrow(self) -> bool:
        """A telephone's width."""
        return self.width < NARROW

    @property
    def palette(self) -> Palette:
        """The colours of the ground."""
        return palette(self.dark)

    def colour(self, name: str) -> str:
        """Return the colour of a category; everything that is none is ink."""
        return self.palette.of(name, self.spec)


@dataclass(frozen=True, slots=True)
class ChartText:
    """What a figure says of itself; the axis says what better is."""

    title: str
    subtitle: str
    axis: str
    start: int = 20  # of the axis, as on the board; earlier where an interval reaches below it
    end: int = 100


def plain(text: str, columns: int | None = None) -> str:
    """Return text as Plotly shows it literally, cut with an ellipsis to `columns` (East Asian characters take two)."""
    return html.escape(text if columns is None else cut(text, columns), quote=False)


def columns_of(text: str) -> int:
    """Return how many columns a text takes up."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def cut(text: str, columns: int) -> str:
    """Return a text that takes up at most `columns`."""
    if columns_of(text) <= columns:
        return text
    while text and columns_of(text) >= columns:
        text = text[:-1]
    return f"{text.rstrip()}…"


def base_layout(page: Page, words: ChartText, height: int, above: int = 0) -> Json:
    """Return the page's layout around a drawing of `height` pixels, with `above` more between the title and the
    drawing.

    No margin at the sides: what is beside an axis lies inside the drawing, so that it moves with the page's width.
    """
    p = page.palette
    title = textwrap.wrap(words.title, max(24, int((page.width - 8) / 10)))
    subtitle = textwrap.wrap(words.subtitle, max(30, int((page.width - 8) / 7.2)))
    top, below = 8 + 23 * len(title) + 19 * len(subtitle) + 12 + above, 62
    heading = f"<b>{'<br>'.join(map(plain, title))}</b>"
    return {
        "font": {"family": FONTS, "size": 13, "color": p.soft},
        "paper_bgcolor": p.ground,
        "plot_bgcolor": p.ground,
        "height": top + height + below,
        "margin": {"l": 0, "r": 0, "t": top, "b": below, "pad": 0},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": p.raised, "bordercolor": p.line, "font": {"family": FONTS, "color": p.ink}},
        "yaxis": bare_axis(p, range=[height, 0], showticklabels=False),
        "shapes": [],
        "annotations": [
            label(0, 1, heading, p.ink, 17, align="left", yanchor="top", yshift=top - 4),
            label(
                0,
                1,
                "<br>".join(map(plain, subtitle)),
                p.soft,
                align="left",
                yanchor="top",
                yshift=top - 8 - 23 * len(title),
            ),
        ],
    }


def under(layout: Json, page: Page, text: str, shift: int, **options: Any) -> None:
    """Return the title of an axis, beneath the drawing, on as many lines as the page's width asks for."""
    lines = textwrap.wrap(text, max(30, int((page.width - 8) / 7.2)))
    words = "<br>".join(map(plain, lines))
    layout["annotations"].append(
        label(0, 0, words, page.palette.soft, yanchor="top", align="left", yshift=-shift, **options)
    )
    more = max(0, shift + 19 * len(lines) + 2 - layout["margin"]["b"])
    layout["margin"]["b"] += more
    layout["height"] += more


def label(x: float, y: float, text: str, colour: str, size: float = 13, **options: Any) -> Json:
    """Return an annotation; `x` and `y` are fractions of the drawing unless `xref` or `yref` say otherwise."""
    note = {"x": x, "y": y, "text": text, "font": {"color": colour, "size": size, "family": FONTS}}
    anchors = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "middle"}
    return {"showarrow": False, "borderpad": 0, "borderwidth": 0, **anchors, **note, **options}


def hairline(x: tuple[float, float], y: tuple[float, float], colour: str, xref: str = "paper") -> Json:
    """Return a hairline under the data."""
    ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "xref": xref, "yref": "y"}
    return {"type": "line", **ends, "line": {"color": colour, "width": 1}, "layer": "below"}


def bare_axis(p: Palette, **options: Any) -> Json:
    """Return an axis without a grid, and fixed: a finger that scrolls the page must not zoom the figure."""
    bare = {"showgrid": False, "zeroline": False, "showline": False, "ticks": "", "fixedrange": True}
    return {**bare, "tickfont": {"color": p.soft, "size": 12}, **options}


def faded(colour: str, alpha: float) -> str:
    """Return a colour of the palette, partly transparent."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def error_bars(colour: str, alpha: float, above: Sequence[float], below: Sequence[float]) -> Json:
    """Intervals as broad pale bars without caps."""
    look = {"thickness": 5, "width": 0, "color": faded(colour, alpha)}
    return {"type": "data", "symmetric": False, "array": list(above), "arrayminus": list(below), **look}


def reach(estimate: Estimate) -> tuple[float, float]:
    """Return how far the interval reaches above and below the value; nothing without an interval."""
    if estimate.low is None or estimate.high is None:
        return 0.0, 0.0
    return estimate.high - estimate.value, estimate.value - estimate.low


def names_width(names: Sequence[str]) -> int:
    """Pixels that a column of names takes up."""
    return min(_NAMES, 24 + max(int(7.4 * columns_of(name)) for name in names))


def pairs_said(column: Sequence[Estimate | None]) -> str:
    """`n 183`; the range where the judges' denominators differ."""
    sizes = sorted({found.n for found in column if found is not None and found.n})
    return "" if not sizes else f"n {sizes[0]:,}" if len(sizes) == 1 else f"n {sizes[0]:,}–{sizes[-1]:,}"


def hover_of(name: str, group: str, estimate: Estimate | None) -> str:
    """Return what is said of a dot under the pointer."""
    where = f"<b>{plain(name, 60)}</b><br>{plain(group, 60)}: "
    if estimate is None:
        return f"{where}nothing counted"
    if estimate.low is None or estimate.high is None:
        return f"{where}{estimate.value:.1f}, {f'{estimate.n} pairs' if estimate.n else 'as printed'}"
    pairs = f", {estimate.n} pairs" if estimate.n else ""
    return f"{where}{estimate.value:.1f}, 95% interval {estimate.low:.1f} to {estimate.high:.1f}{pairs}"
