"""Dot plots and heat maps of estimates, with Plotly.

The figures look like the board: one line per judge, the number, then a dot on a common axis with its 95% interval
behind it and a mark at chance. Colour means category; position and name distinguish judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import plotly.graph_objects as go

from leaderboard.charts.estimates import Estimate
from leaderboard.charts.layout import (
    CHANCE,
    FADED,
    SMALL,
    ChartText,
    Estimates,
    Page,
    estimate_marks,
    faded,
    finish,
    grid,
    hover_of,
    of_few,
    pairs_text,
    plain,
    with_legend,
)
from leaderboard.ranking.columns import by_key
from leaderboard.site.colours import LIGHT
from vlrb.common.messages import _
from vlrb.common.rounding import one_decimal, points

_ROW, _NARROW_ROW, _HEADER = 34, 46, 44  # pixels
_MOST_COLUMNS = 5
_SHORT = 3  # letters of a head that stands level on a telephone
_START = 20  # of an axis of shares, as on the board; earlier where an interval reaches below it
_NUMBERS = 0.2  # of the length of an axis: the column of numbers before it


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a drawing: its name, its estimates by key, a few words in small type beside it, who says so, where a
    click leads; ``hollow``: others reported it.
    """

    name: str
    estimates: Estimates = field(default_factory=dict)
    small: str = ""
    hollow: bool = False
    source: str = ""
    link: str = ""


# --- dots -------------------------------------------------------------------------------------------------------------


def dots(
    lines: Sequence[ChartLine],
    *,
    keys: Sequence[str],
    page: Page,
    words: ChartText,
) -> go.Figure:
    """Return a panel per key with a line per judge: beside one another, on a telephone above one another."""
    heads, tall = {key: page.title_of(key) for key in keys}, len(lines) * (_NARROW_ROW if page.narrow else _ROW)
    titles = [_heading(key, heads[key], lines=lines, page=page) for key in keys]
    figure, places, height = grid(titles, page, most=_MOST_COLUMNS, tall=tall, between=_HEADER + 40)
    figure.update_annotations(xanchor="left", align="left")
    every = [cell for line in lines for key in keys if (cell := line.estimates.get(key)) is not None]
    start, end = (_START, 100) if words.reach is None else (-words.reach, words.reach)
    lowest = min([start, *(int((one.bounds or (one.value,))[0] // 10 * 10) for one in every)])
    left = lowest - (0 if page.narrow else _NUMBERS * (end - lowest))
    for at, (key, place) in enumerate(zip(keys, places, strict=True)):
        figure.add_trace(_marks(key, heads[key], lines=lines, page=page), **place)
        figure.add_vline(
            x=page.chance(key) if words.reach is None else 0,
            line={"color": LIGHT.chance, "width": 1},
            layer="below",
            **place,
        )
        texts = [_number(line, key, page=page, words=words) for line in lines]
        if page.narrow:
            texts = [f"{_line_name(line, page)}  {number}" for line, number in zip(lines, texts, strict=True)]
        figure.add_trace(_texts(texts, left, up=0.34 if page.narrow else 0), **place)
        figure.layout.annotations[at].x = figure.get_subplot(**place).xaxis.domain[0]
    usual = [tick for tick in (0, 25, CHANCE, 75, 100) if tick >= lowest]
    figure.update_xaxes(range=[left, end + 1], showticklabels=True)
    figure.update_xaxes({"tickvals": usual} if words.reach is None else {"nticks": 5})
    names = ["" if page.narrow else _line_name(line, page) for line in lines]
    figure.update_yaxes(range=[len(lines) - 0.5, -0.7 if page.narrow else -0.5], tickfont_color=LIGHT.ink)
    figure.update_yaxes(tickvals=list(range(len(lines))), ticktext=names, ticklabelstandoff=14)
    axis = with_legend(words.axis, every)
    if words.reach is None:
        axis = _("{axis}; upright line: chance", axis=axis)
    return finish(figure, page, words=replace(words, axis=axis), height=height, above=_HEADER + 10)


def _texts(texts: Sequence[str], left: float, *, up: float) -> go.Scatter:
    """Return texts at the beginning of lines, or a part of a line above it."""
    return go.Scatter(
        x=[left] * len(texts),
        y=[at - up for at in range(len(texts))],
        text=texts,
        mode="text",
        textposition="middle right",
        textfont_color=LIGHT.ink,
        hoverinfo="skip",
        cliponaxis=False,
    )


def _heading(key: str, name: str, *, lines: Sequence[ChartLine], page: Page) -> str:
    """Return the title of a panel with what is small beneath it: what a mean is of, or the number of pairs."""
    of_mean = by_key(page.spec)[key].subtitle if page.spec.is_mean(key) else ""
    small = page.text(of_mean) or pairs_text([line.estimates.get(key) for line in lines])
    return f"<b><span style='color:{page.colour(key)}'>{plain(name)}</span></b><br>{SMALL.format(plain(small))}"


def _number(line: ChartLine, key: str, *, page: Page, words: ChartText) -> str:
    """Return a value as a number; differences have a sign."""
    cell = line.estimates.get(key)
    if cell is None:
        number = page.text(_("none"))
    else:
        number = one_decimal(cell.value) if words.reach is None else points(cell.value / 100, signed=True)
    return number if line.hollow else f"<b>{number}</b>"


def _line_name(line: ChartLine, page: Page) -> str:
    return page.name(line.name) + (f"  {SMALL.format(plain(page.text(line.small)))}" if line.small else "")


def _marks(key: str, name: str, *, lines: Sequence[ChartLine], page: Page) -> go.Scatter:
    """Return the dots of a panel: hollow where others reported them, faded where they are counted from few pairs."""
    drawn = [(at, line, cell) for at, line in enumerate(lines) if (cell := line.estimates.get(key)) is not None]
    marks = estimate_marks(
        [cell for _, _, cell in drawn],
        [at for at, _, _ in drawn],
        colour=page.colour(key),
        symbol=["circle-open" if line.hollow else "circle" for _, line, _ in drawn],
        hovers=[hover_of(page, line.name, group=name, estimate=cell) for _, line, cell in drawn],
    )
    return marks.update(customdata=[line.link for _, line, _ in drawn], cliponaxis=False)


# --- heat map ---------------------------------------------------------------------------------------------------------


def heat_map(lines: Sequence[ChartLine], *, grouping: str, page: Page, words: ChartText) -> go.Figure:
    """Return judges x sources in shades that part at chance; the number is in each cell, so the shade never carries
    alone. A cell of few pairs is nearly without shade, and its number slanted."""
    sources, chance = page.spec.source_keys, page.chance(page.spec.pooled)
    category = {source: key for key, parts in page.spec.groupings[grouping].items() for source in parts}
    cells = [[line.estimates[source] for source in sources] for line in lines]
    names = [line.name for line in lines]
    trace = go.Heatmap(
        z=[
            [None if cell is None else chance + (cell.value - chance) * (FADED if of_few(cell) else 1) for cell in line]
            for line in cells
        ],
        text=[[_cell_text(cell, page) for cell in line] for line in cells],
        hovertext=[
            [hover_of(page, name, group=source, estimate=cell) for source, cell in zip(sources, line, strict=True)]
            for name, line in zip(names, cells, strict=True)
        ],
        colorscale=[[0, faded(LIGHT.warning, 0.5)], [chance / 100, LIGHT.raised], [1, LIGHT.shade]],
        zmin=0,
        zmax=100,
    )
    heads = [
        f"<b><span style='color:{page.colour(category[source])}'>{source}</span></b>{'  ' if page.narrow else '<br>'}"
        + SMALL.format(pairs_text([line.estimates[source] for line in lines]))
        for source in sources
    ]
    return cells_figure(trace, names, heads=heads, page=page, words=words)


def _cell_text(cell: Estimate | None, page: Page) -> str:
    number = page.text(_("none")) if cell is None else one_decimal(cell.value)
    return f"<i>{number}</i>" if of_few(cell) else number


def cells_figure(
    trace: go.Heatmap, names: Sequence[str], *, heads: Sequence[str], page: Page, words: ChartText
) -> go.Figure:
    """Return a heat map with a line per name, on a telephone with the names above the cells."""
    row, count = _NARROW_ROW if page.narrow else _ROW, len(names)
    trace.update(
        x=list(range(len(heads))),
        y=list(range(count)),
        texttemplate="%{text}",
        hoverinfo="text",
        showscale=False,
        textfont={"color": LIGHT.ink, "size": 11 if page.narrow else 12},
        xgap=2,
        ygap=20 if page.narrow else 2,
    )
    figure = go.Figure(trace)
    upright = page.narrow and max(map(len, heads)) > _SHORT
    figure.update_xaxes(side="top", tickvals=list(range(len(heads))), ticktext=heads, tickangle=-90 if upright else 0)
    figure.update_xaxes(range=[-0.5, len(heads) - 0.5])
    figure.update_yaxes(range=[count - 0.5, -0.75 if page.narrow else -0.5], tickfont_color=LIGHT.ink)
    lines = [page.name(name) for name in names]
    figure.update_yaxes(tickvals=list(range(count)), ticktext=lines, showticklabels=not page.narrow)
    if page.narrow:
        figure.add_trace(_texts(lines, -0.5, up=0.5))
    return finish(figure, page, words=words, height=row * count, above=130 if upright else _HEADER)


def reach_of(values: Sequence[float], chance: float | None = None) -> tuple[float, float]:
    """Return the range of an axis: what is drawn, and chance (percent) where it is within ten points of it."""
    low, high = min(values), max(values)
    if chance is not None and low - 10 <= chance <= high + 10:
        low, high = min(low, chance), max(high, chance)
    pad = max(1.0, 0.08 * (high - low))
    return max(0.0, low - pad), min(100.0, high + pad)
