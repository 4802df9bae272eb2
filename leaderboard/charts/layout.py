"""Layout shared by all charts: page size, fonts, labels, axes and error bars.

Everything is Plotly's JSON, made of nothing newer than plotly.js 3, and placed in pixels for the width of the reader's
page: the vertical axis of a drawing counts pixels from its top. `svg.py` draws it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.charts.colours import FONTS, Palette, palette
from leaderboard.charts.estimates import Estimate
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.json_types import Json
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal
from vlrb.common.translations import ENGLISH, Translations, translations

NARROW = 720  # pixels; below, names stand above their lines and panels above one another
CHANCE = 50
SMALL = "<span style='font-size:12px'>{}</span>"
FEW_PAIRS, FADED = 30, 0.25  # below so many pairs a mark has a fraction of its strength
_NAMES = 300  # the widest column of names
BESIDE_NAMES = 24  # between the names and what follows

Estimates = Mapping[str, Estimate | None]


@dataclass(frozen=True, slots=True)
class Page:
    """What a figure is drawn on: the width of the reader's page in pixels, its ground and language; and of which
    benchmark. ``titled``: title and subtitle stand in the figure, because nothing around it has them."""

    spec: BenchmarkSpec
    width: int = 1200
    dark: bool = False
    language: str = ENGLISH
    titled: bool = True

    @property
    def narrow(self) -> bool:
        """A telephone's width."""
        return self.width < NARROW

    @property
    def palette(self) -> Palette:
        """The colours of the ground."""
        return palette(self.dark)

    @property
    def translations(self) -> Translations:
        """The sentences of the language."""
        return translations(self.language)

    def text(self, text: str) -> str:
        """Return a message, or a title of the definition, in the language of the page."""
        return self.translations.known(text)

    def title_of(self, key: str) -> str:
        """Return how people call a score, in the language of the page."""
        return self.text(self.spec.title_of(key))

    def chance(self, key: str) -> float:
        """Return what chance gives in a score, percent; a whole number where it is one."""
        chance = 100 * self.spec.chance(key)
        return int(chance) if chance.is_integer() else chance

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
    centre: int | None = None  # what differences lie around, alike on both sides; None: shares, with a line of chance


_LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # of Hebrew, Arabic and other scripts from right to left
_FROM_THE_RIGHT = re.compile(rf"\S*[{_LETTERS}]\S*(?:\s+\S*[{_LETTERS}]\S*)*")


def plain(text: str, columns: int | None = None) -> str:
    """Return a name as Plotly shows it literally, cut with an ellipsis to `columns` (East Asian characters take two).

    What is read from the right is isolated, or it would reorder the numbers and names beside it."""
    return html.escape(isolated(text if columns is None else cut(text, columns)), quote=False)


def _plain_line(line: str) -> str:
    """Return a line of a sentence as Plotly shows it literally; what is read from the right in it is isolated."""
    return html.escape(_FROM_THE_RIGHT.sub(lambda match: isolated(match[0]), line), quote=False)


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


_NARROW_LETTERS, _BROAD_LETTERS = frozenset("fijlrtI.,:;|!'()[]- "), frozenset("mwMW@%")


def text_width(text: str, size: float = 13) -> float:
    """Return how many pixels a text takes up in the fonts of the pages, rather too many than too few."""
    return sum(_letter_width(letter) for letter in text) * size


def _letter_width(letter: str) -> float:
    if letter in _NARROW_LETTERS:
        return 0.38
    if letter in _BROAD_LETTERS:
        return 0.93
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.02
    return 0.7 if letter.isupper() else 0.6


def fitting(text: str, width: float, *, size: float = 13) -> str:
    """Return a text that takes up at most `width` pixels, cut in the middle."""
    columns = columns_of(text)
    result = text
    while text_width(result, size) > width and columns > 4:
        columns -= 1
        result = cut(text, columns)
    return result


def on_lines(name: str, width: float, *, size: float = 13) -> list[str]:
    """Return a name on one line, or where it is too long for `width` pixels on two; the second may be cut."""
    if text_width(name, size) <= width:
        return [name]
    end = len(name)
    while end > 1 and text_width(name[:end], size) > width:
        end -= 1
    breaks = [at for at in range(end // 2, end + 1) if name[at - 1] in " _-/:·("]
    end = breaks[-1] if breaks else end
    return [name[:end].rstrip(), fitting(name[end:].lstrip(), width, size=size)]


def wrapped(text: str, width: float, *, size: float = 13) -> list[str]:
    """Return a sentence on lines of at most `width` pixels; Chinese breaks between any two characters."""
    lines, line = [], ""
    for word in _words(text):
        if line and text_width(line + word.rstrip(), size) > width:
            lines.append(line.rstrip())
            line = ""
        line += word
    return [*lines, line.rstrip()] if line.strip() else lines


def _words(text: str) -> list[str]:
    """Return the parts between which a line may break; no line begins with a mark of punctuation."""
    parts = [""]
    for letter in text:
        wide = unicodedata.east_asian_width(letter) in "WF" and unicodedata.category(letter) == "Lo"
        if wide or parts[-1].endswith(" "):
            parts.append(letter)
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def base_layout(page: Page, words: ChartText, *, height: int, above: int = 0) -> Json:
    """Return the page's layout around a drawing of `height` pixels, with `above` more between the title and the
    drawing.

    No margin at the sides: what is beside an axis lies inside the drawing, so that it moves with the page's width.
    """
    p = page.palette
    titles, heading = _titles(page, words, above=above) if page.titled else ([], 0)
    top, below = heading + above, 62
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
        "annotations": titles,
    }


def _titles(page: Page, words: ChartText, *, above: int) -> tuple[list[Json], int]:
    """Return title and subtitle, and how many pixels they take up."""
    p = page.palette
    title = wrapped(page.text(words.title), page.width - 8, size=17)
    subtitle = wrapped(page.text(words.subtitle), page.width - 8)
    tall = 20 + 23 * len(title) + 19 * len(subtitle)
    top, heading = tall + above, f"<b>{'<br>'.join(map(_plain_line, title))}</b>"
    at_top: Json = {"align": "left", "yanchor": "top"}
    titles = [
        label(0, 1, text=heading, colour=p.ink, size=17, yshift=top - 4, **at_top),
        label(
            0,
            1,
            text="<br>".join(map(_plain_line, subtitle)),
            colour=p.soft,
            yshift=top - 8 - 23 * len(title),
            **at_top,
        ),
    ]
    return titles, tall


def under(layout: Json, page: Page, *, text: str, shift: int, **options: Any) -> None:
    """Add the title of an axis, beneath the drawing, on as many lines as the page's width asks for."""
    lines = wrapped(page.text(text), page.width - 8)
    words = "<br>".join(map(_plain_line, lines))
    layout["annotations"].append(
        label(0, 0, text=words, colour=page.palette.soft, yanchor="top", align="left", yshift=-shift, **options)
    )
    more = shift + 19 * len(lines) + 2 - layout["margin"]["b"]
    if page.titled:
        more = max(0, more)
    layout["margin"]["b"] += more
    layout["height"] += more


def label(x: float, y: float, *, text: str, colour: str, size: float = 13, **options: Any) -> Json:
    """Return an annotation; `x` and `y` are fractions of the drawing unless `xref` or `yref` say otherwise."""
    note = {"x": x, "y": y, "text": text, "font": {"color": colour, "size": size, "family": FONTS}}
    anchors = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "middle"}
    return {"showarrow": False, "borderpad": 0, "borderwidth": 0, **anchors, **note, **options}


def hairline(x: tuple[float, float], y: tuple[float, float], *, colour: str, xref: str = "paper") -> Json:
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


def error_bars(colour: str, alpha: float, *, above: Sequence[float], below: Sequence[float]) -> Json:
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
    return min(_NAMES, BESIDE_NAMES + max(int(text_width(name)) + 1 for name in names))


def name_lines(name: str, column: int) -> list[str]:
    """Return a name on the lines that it takes in a column of names."""
    return on_lines(name, column - BESIDE_NAMES)


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


def hover_of(page: Page, name: str, *, group: str, estimate: Estimate | None) -> str:
    """Return what is said of a dot under the pointer."""
    return f"<b>{plain(name, 60)}</b><br>{plain(page.text(_hover(cut(page.text(group), 60), estimate)))}"


def _hover(group: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return _("{group}: nothing counted", group=group)
    value = one_decimal(estimate.value)
    if estimate.low is None or estimate.high is None:
        if not estimate.n:
            return _("{group}: {value}, as printed", group=group, value=value)
        return _("{group}: {value}, {pairs} pairs", group=group, value=value, pairs=estimate.n)
    ends = {"low": one_decimal(estimate.low), "high": one_decimal(estimate.high)}
    if not estimate.n:
        return _("{group}: {value}, 95% interval {low} to {high}", group=group, value=value, **ends)
    return _(
        "{group}: {value}, 95% interval {low} to {high}, {pairs} pairs",
        group=group,
        value=value,
        pairs=estimate.n,
        **ends,
    )
