"""Parts that all charts share: the page that a figure is for, names as plain text, intervals, words under the pointer.

Figures are Plotly's and in the colours of the light ground; the script of the page exchanges them on a dark one.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import plotly.graph_objects as go

from leaderboard.charts.estimates import Estimate
from leaderboard.site.colours import FONTS, LIGHT
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal
from vlrb.common.translations import ENGLISH, translations

CHANCE = 50
SMALL = "<span style='font-size:12px'>{}</span>"
FEW_PAIRS, FADED = 30, 0.25  # below so many pairs a mark has a fraction of its strength
_LINE = 19  # pixels
_UNDER = 46  # pixels between the drawing and the words beneath it: the numbers of an axis

Estimates = Mapping[str, Estimate | None]


@dataclass(frozen=True, slots=True)
class Page:
    """What a figure is drawn for: a benchmark, a telephone or a wider page, a language."""

    spec: BenchmarkSpec
    narrow: bool = False
    language: str = ENGLISH

    def text(self, text: str) -> str:
        """Return a message, or a title of the definition, in the language of the page."""
        return translations(self.language).known(text)

    def title_of(self, key: str) -> str:
        """Return how people call a score, in the language of the page."""
        return self.text(self.spec.title_of(key))

    def chance(self, key: str) -> float:
        """Return what chance gives in a score, percent; a whole number where it is one."""
        chance = 100 * self.spec.chance(key)
        return int(chance) if chance.is_integer() else chance

    def colour(self, name: str) -> str:
        """Return the colour of a category; everything that is none is ink."""
        return LIGHT.of(name, self.spec)

    def name(self, text: str) -> str:
        """Return a name as Plotly shows it literally, cut to the room that it has."""
        return plain(text, 34 if self.narrow else 42)


@dataclass(frozen=True, slots=True)
class ChartText:
    """What a figure says of itself; the axis says what better is."""

    title: str
    subtitle: str
    axis: str
    reach: int | None = None  # of differences, on both sides of 0; None: shares, with a line of chance


_FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")  # letters of Hebrew, Arabic and others


def plain(text: str, columns: int = 60) -> str:
    """Return a text as Plotly shows it literally, cut with an ellipsis to `columns` (East Asian characters take two).

    What is read from the right is isolated, or it would reorder the numbers and names beside it."""
    return html.escape(isolated(cut(text, columns)), quote=False)


def isolated(text: str) -> str:
    """Return a name so that it reorders nothing beside it; one that is read from the left stays as it is."""
    return f"\u2068{text}\u2069" if _FROM_THE_RIGHT.search(text) else text


def columns_of(text: str) -> int:
    """Return how many columns a text takes up."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def cut(text: str, columns: int) -> str:
    """Return a text that takes up at most `columns`; what is too long is left out in the middle, for names differ at
    their ends."""
    if columns_of(text) <= columns:
        return text
    ahead = -(-(columns - 1) * 3 // 5)
    return f"{_beginning(text, ahead).rstrip()}…{_beginning(text[::-1], columns - 1 - ahead)[::-1].lstrip()}"


def _beginning(text: str, columns: int) -> str:
    while columns_of(text) > columns:
        text = text[:-1]
    return text


# A word, or an East Asian sign with the marks that close it.
_UNBROKEN = re.compile("[\u2e80-\uffef][\u3001\u3002\uff09\uff0c\uff1a\uff1b]*|[^\\s\u2e80-\uffef]+\\s*|\\s+")


def on_lines(text: str, page: Page) -> list[str]:
    """Return a sentence as Plotly shows it literally, on the lines that a page has room for."""
    room, lines = 46 if page.narrow else 130, [""]
    for part in _UNBROKEN.findall(text):
        if lines[-1] and columns_of(lines[-1] + part.rstrip()) > room:
            lines.append("")
        lines[-1] += part
    return [html.escape(line.strip(), quote=False) for line in lines if line]


class Grid(NamedTuple):
    """An empty figure of several planes, the place of each, and the height of all in pixels."""

    figure: go.Figure
    places: list[dict[str, Any]]
    height: int


def grid(titles: Sequence[str], page: Page, *, most: int, tall: int, between: int, shared: bool = True) -> Grid:
    """Return planes with titles beside one another, at most ``most``, on a telephone above one another.

    ``tall``: pixels of a plane; ``between``: below one; ``shared``: one vertical axis for all of a row.
    """
    rows = len(titles) if page.narrow else -(-len(titles) // most)
    columns = -(-len(titles) // rows)
    height = rows * tall + (rows - 1) * between
    figure = go.Figure().set_subplots(
        rows,
        columns,
        subplot_titles=titles,
        shared_yaxes=shared,
        horizontal_spacing=0.03 if shared else 0.06,
        vertical_spacing=between / height if rows > 1 else 0,
    )
    figure.update_annotations(font={"size": 13, "color": LIGHT.ink})
    return Grid(figure, [{"row": at // columns + 1, "col": at % columns + 1} for at in range(len(titles))], height)


def finish(figure: go.Figure, page: Page, *, words: ChartText, height: int, above: int = 30) -> go.Figure:
    """Return a figure with its words and its look.

    ``height``: of the drawing; ``above``: room over it. The title is for the figure as a file: the page has its own,
    and takes as many pixels away as ``meta`` says.
    """
    title, subtitle, axis = (on_lines(page.text(text), page) for text in (words.title, words.subtitle, words.axis))
    heading = 30 + 24 * len(title) + _LINE * len(subtitle)
    figure.add_annotation(
        **{"text": "<br>".join(axis), "x": 0, "y": 0, "xref": "paper", "yref": "paper", "yshift": -_UNDER + 12},
        **{"xanchor": "left", "yanchor": "top", "align": "left", "showarrow": False, "font_color": LIGHT.soft},
    )
    under = _UNDER + _LINE * len(axis)
    figure.update_layout(
        template=go.layout.Template(),
        font={"family": FONTS, "size": 13, "color": LIGHT.soft},
        paper_bgcolor=LIGHT.ground,
        plot_bgcolor=LIGHT.ground,
        margin={"l": 4, "r": 16, "t": heading + above, "b": under},
        height=heading + above + height + under,
        showlegend=False,
        hovermode="closest",
        hoverlabel={"bgcolor": LIGHT.raised, "bordercolor": LIGHT.line, "font_color": LIGHT.ink, "align": "left"},
        title={
            "text": f"<b>{'<br>'.join(title)}</b>",
            "font": {"size": 17, "color": LIGHT.ink},
            "subtitle": {"text": "<br>".join(subtitle), "font_size": 13},
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 14, "l": 4},
        },
        meta={"heading": heading},
    )
    for update in (figure.update_xaxes, figure.update_yaxes):  # a finger that scrolls the page must not zoom the figure
        update(showgrid=False, zeroline=False, ticks="", fixedrange=page.narrow, tickfont_size=12, title_font_size=13)
        update(automargin=True)
    return figure


def faded(colour: str, alpha: float) -> str:
    """Return a colour of the palette, partly transparent."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def error_bars(points: Sequence[tuple[float, tuple[float, float] | None]], colour: str) -> dict[str, Any]:
    """Return intervals of values as broad pale bars without caps; none where there is no interval."""
    return {
        "array": [bounds[1] - value if bounds else 0 for value, bounds in points],
        "arrayminus": [value - bounds[0] if bounds else 0 for value, bounds in points],
        **{"thickness": 5, "width": 0, "color": colour},
    }


def estimate_marks(
    cells: Sequence[Estimate], y: Sequence[float], *, colour: str, symbol: str | Sequence[str], hovers: Sequence[str]
) -> go.Scatter:
    """Return points with their intervals along the horizontal axis, faded where they are counted from few pairs.

    ``hovers``: what is said of each under the pointer, as Plotly shows it literally.
    """
    return go.Scatter(
        x=[cell.value for cell in cells],
        y=y,
        mode="markers",
        marker={
            "symbol": symbol,
            "opacity": [FADED if of_few(cell) else 1 for cell in cells],
            "size": 9,
            "color": colour,
        },
        error_x=error_bars([(cell.value, cell.bounds) for cell in cells], faded(colour, 0.35)),
        hovertext=hovers,
        hoverinfo="text",
    )


def of_few(estimate: Estimate | None) -> bool:
    """Return whether it is counted from so few pairs that it says little; of what others print, the pairs are not
    known."""
    return estimate is not None and 0 < estimate.n < FEW_PAIRS


def with_legend(axis: str, estimates: Iterable[Estimate | None]) -> str:
    """Return what the axis measures, and what faded marks are where there are any."""
    if not any(map(of_few, estimates)):
        return axis
    return joined((axis, _("Faded: fewer than {few} pairs", few=FEW_PAIRS)), " · ")


def pairs_text(column: Sequence[Estimate | None]) -> str:
    """Return `n 183`; the range where the judges' denominators differ."""
    sizes = sorted({estimate.n for estimate in column if estimate is not None and estimate.n})
    return "" if not sizes else f"n {sizes[0]:,}" if len(sizes) == 1 else f"n {sizes[0]:,}–{sizes[-1]:,}"


def hover_text(name: str, *lines: str) -> str:
    """Return a name, and what is said of it under the pointer, as Plotly shows them literally."""
    return "<br>".join((f"<b>{plain(name)}</b>", *map(plain, lines)))


def hover_of(page: Page, name: str, *, group: str, estimate: Estimate | None) -> str:
    """Return what is said of a mark under the pointer."""
    return f"<b>{plain(name)}</b><br>{plain(page.text(_hover(cut(page.text(group), 60), estimate)), 200)}"


def _hover(group: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return _("{group}: nothing counted", group=group)
    parts = [_("{group}: {value}", group=group, value=with_interval(estimate.value, estimate.bounds))]
    if not estimate.n and not estimate.bounds:
        parts.append(_("as printed"))
    if estimate.n:
        parts.append(_("{n} pairs", n=estimate.n))
    return joined(parts)


def with_interval(value: float, bounds: tuple[float, float] | None) -> str:
    """Return a value with its 95% interval where it has one, as words under the pointer."""
    number, *ends = (one_decimal(one) for one in (value, *(bounds or ())))
    if not ends:
        return number
    low, high = ends
    return _("{value}, 95% interval {low} to {high}", value=number, low=low, high=high)
