"""Dot plots, heat maps and curves of estimates, with Plotly.

The figures look like the board: one line per judge, the number, then a dot on a common axis with its 95% interval
behind it and a mark at chance. Colour means category; position and name distinguish judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import plotly.graph_objects as go

from leaderboard.board.columns import by_key
from leaderboard.charts.colours import LIGHT
from leaderboard.charts.estimates import Estimate, Point, signed
from leaderboard.charts.layout import (
    CHANCE,
    FADED,
    SMALL,
    ChartText,
    Estimates,
    Page,
    error_bars,
    faded,
    finish,
    hover_of,
    of_few,
    pairs_text,
    plain,
    with_legend,
)
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.common.rounding import one_decimal

_ROW, _NARROW_ROW, _HEADER, _CURVES = 34, 46, 44, 380  # pixels
_MOST_COLUMNS = 5
_SHORT = 3  # letters of a head that stands level on a telephone
_NUMBERS = 0.2  # of the length of an axis: the column of numbers before it
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a drawing: its name, its estimates by key, a few words in small type beside it, who says so, what
    kind of judge it is, where a click leads; ``hollow``: others reported it.

    A ``heading`` has no numbers: it says what is beneath it.
    """

    name: str
    estimates: Estimates = field(default_factory=dict)
    small: str = ""
    hollow: bool = False
    heading: bool = False
    source: str = ""
    kind: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class _Panel:
    """One axis with a line per name. ``heading``: the title with what is small beneath it; ``chance`` in percent."""

    name: str
    heading: str
    colour: str
    chance: float
    cells: Sequence[Estimate | None]


# --- dots -------------------------------------------------------------------------------------------------------------


def dots(
    lines: Sequence[ChartLine],
    *,
    keys: Sequence[str],
    page: Page,
    words: ChartText,
    titles: Mapping[str, str] | None = None,
) -> go.Figure:
    """Return a panel per key with a line per judge."""
    panels = []
    for key in keys:
        name, colour = page.text((titles or {}).get(key, page.spec.title_of(key))), page.colour(key)
        cells = [line.estimates.get(key) for line in lines]
        heading = _titled(name, page.text(mean_subtitle(key, page.spec)) or pairs_text(cells), colour=colour)
        chance = page.chance(key) if words.centre is None else words.centre
        panels.append(_Panel(name, heading, colour, chance=chance, cells=cells))
    return _draw(panels, lines, page=page, words=words)


def _titled(title: str, small: str, *, colour: str) -> str:
    return f"<b><span style='color:{colour}'>{plain(title)}</span></b><br>{SMALL.format(plain(small))}"


def _numbers(cells: Sequence[Estimate | None], page: Page, *, words: ChartText) -> list[str]:
    """Return the values as numbers; differences have a sign."""
    written = one_decimal if words.centre is None else signed
    return [page.text(_("none")) if cell is None else written(cell.value) for cell in cells]


def mean_subtitle(key: str, spec: BenchmarkSpec) -> str:
    """Return what the board says of a mean, "" of any other score."""
    return by_key(spec)[key].subtitle if spec.is_mean(key) else ""


def _draw(panels: Sequence[_Panel], lines: Sequence[ChartLine], *, page: Page, words: ChartText) -> go.Figure:
    """Return panels beside one another, on a telephone above one another."""
    count = len(panels)
    rows = count if page.narrow else -(-count // _MOST_COLUMNS)
    columns = -(-count // rows)
    row = _NARROW_ROW if page.narrow else _ROW
    height = rows * len(lines) * row + (rows - 1) * (_HEADER + 40)
    figure = go.Figure().set_subplots(
        rows,
        columns,
        shared_yaxes=True,
        subplot_titles=[panel.heading for panel in panels],
        horizontal_spacing=0.02,
        vertical_spacing=(_HEADER + 40) / height if rows > 1 else 0,
    )
    figure.update_annotations(xanchor="left", align="left", font_size=13, font_color=LIGHT.ink)
    every = [cell for panel in panels for cell in panel.cells]
    lowest = (
        min(words.start, *(int((e.value if e.low is None else e.low) // 10 * 10) for e in every if e))
        if any(every)
        else words.start
    )
    left = lowest - (0 if page.narrow else _NUMBERS * (words.end - lowest))
    for at, panel in enumerate(panels):
        place = {"row": at // columns + 1, "col": at % columns + 1}
        numbers = _words_of_lines(panel, lines, page=page, words=words, left=left)
        figure.add_traces(
            [*numbers, *_panel_traces(panel, lines, page=page)],
            **{f"{name}s": number for name, number in place.items()},
        )
        figure.layout.annotations[at].x = figure.get_subplot(**place).xaxis.domain[0]
    usual = [tick for tick in (0, 25, CHANCE, 75, 100) if tick >= lowest]
    shown = {"tickvals": usual} if words.centre is None else {"nticks": 5}
    figure.update_xaxes(range=[left, words.end + 1], showticklabels=True, **shown)
    names = ["" if page.narrow and not line.heading else _line_name(line, page) for line in lines]
    figure.update_yaxes(range=[len(lines) - 0.5, -0.7 if page.narrow else -0.5], ticklabelstandoff=14)
    figure.update_yaxes(tickvals=list(range(len(lines))), ticktext=names, tickfont_color=LIGHT.ink)
    figure.update_yaxes(showticklabels=False, selector=lambda axis: page.narrow or axis.matches is not None)
    mark = _("{axis}; upright line: chance", axis=with_legend(words.axis, every))
    words = replace(words, axis=mark if words.centre is None else with_legend(words.axis, every))
    return finish(figure, page, words=words, height=height, above=_HEADER + 10)


def _line_name(line: ChartLine, page: Page) -> str:
    if line.heading:
        return f"<b>{plain(page.text(line.name))}</b>"
    return page.name(line.name) + (f"  {SMALL.format(plain(page.text(line.small)))}" if line.small else "")


def _words_of_lines(
    panel: _Panel, lines: Sequence[ChartLine], *, page: Page, words: ChartText, left: float
) -> list[go.Scatter]:
    """Return the numbers before the axis, on a telephone the names and numbers above it; and the marks of chance."""
    numbers = _numbers(panel.cells, page, words=words)
    bold = [number if line.hollow else f"<b>{number}</b>" for line, number in zip(lines, numbers, strict=True)]
    texts = ["" if line.heading else number for line, number in zip(lines, bold, strict=True)]
    if page.narrow:
        texts = [f"{_line_name(line, page)}  {text}" for line, text in zip(lines, texts, strict=True)]
    at = [index for index, line in enumerate(lines) if not line.heading]
    ys = [index - (0.34 if page.narrow else 0) for index in range(len(lines))]
    silent = {"hoverinfo": "skip", "cliponaxis": False}
    look = {"symbol": "line-ns-open", "size": 12, "color": LIGHT.chance, "line_width": 1}
    return [
        go.Scatter(
            x=[left] * len(ys),
            y=ys,
            text=texts,
            mode="text",
            textposition="middle right",
            textfont_color=LIGHT.ink,
            **silent,
        ),
        go.Scatter(x=[panel.chance] * len(at), y=at, mode="markers", marker=look, **silent),
    ]


def _panel_traces(panel: _Panel, lines: Sequence[ChartLine], *, page: Page) -> list[go.Scatter]:
    """Return a trace for each look."""
    traces, known = [], [(at, cell) for at, cell in enumerate(panel.cells) if cell is not None]
    for hollow, few in dict.fromkeys((lines[at].hollow, of_few(cell)) for at, cell in known):
        drawn = [(at, cell) for at, cell in known if (lines[at].hollow, of_few(cell)) == (hollow, few)]
        traces.append(
            go.Scatter(
                x=[cell.value for _, cell in drawn],
                y=[at for at, _ in drawn],
                mode="markers",
                marker={
                    "symbol": "circle-open" if hollow else "circle",
                    "size": 9,
                    "color": panel.colour,
                    "line": {"color": panel.colour, "width": 1.6 if hollow else 0},
                },
                error_x=error_bars([cell for _, cell in drawn], panel.colour),
                opacity=FADED if few else 1,
                hovertext=[hover_of(page, lines[at].name, group=panel.name, estimate=cell) for at, cell in drawn],
                customdata=[lines[at].link for at, _ in drawn],
                hoverinfo="text",
                cliponaxis=False,
            )
        )
    return traces


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
    lines = [page.name(name) for name in names]
    if page.narrow:
        figure.add_scatter(
            x=[-0.5] * count,
            y=[at - 0.5 for at in range(count)],
            text=lines,
            mode="text",
            textposition="middle right",
            textfont_color=LIGHT.ink,
            hoverinfo="skip",
            cliponaxis=False,
        )
    upright = page.narrow and max(map(len, heads)) > _SHORT
    figure.update_xaxes(side="top", tickvals=list(range(len(heads))), ticktext=heads, tickangle=-90 if upright else 0)
    figure.update_xaxes(range=[-0.5, len(heads) - 0.5])
    figure.update_yaxes(
        range=[count - 0.5, -0.75 if page.narrow else -0.5], tickvals=list(range(count)), ticktext=lines
    )
    figure.update_yaxes(tickfont_color=LIGHT.ink, showticklabels=not page.narrow)
    return finish(figure, page, words=words, height=row * count, above=130 if upright else _HEADER)


# --- lines ------------------------------------------------------------------------------------------------------------


def curves(
    lines: Sequence[ChartLine],
    drawn: Sequence[tuple[Sequence[Point], Estimate | None]],
    *,
    page: Page,
    words: ChartText,
) -> go.Figure:
    """Return lines named at their ends, where the 95% interval of the score is."""
    figure, chance = go.Figure(), page.chance(page.spec.headline)
    values = [point.value for points, _ in drawn for point in points]
    values += [end for _, e in drawn if e is not None for end in (e.low, e.high) if end is not None]
    low, high = reach_of(values, chance)
    most = max(point.k for points, _ in drawn for point in points)
    ends = _apart([points[-1].value for points, _ in drawn], 18 * (high - low) / _CURVES)
    for index, (line, (points, final), end) in enumerate(zip(lines, drawn, ends, strict=True)):
        symbol, last = SYMBOLS[index % len(SYMBOLS)], points[-1]
        look = {"marker": {"symbol": symbol, "size": 8, "color": LIGHT.ink}, "opacity": FADED if of_few(final) else 1}
        votes = [page.text(_("{k} votes", k=point.k)) for point in points]
        figure.add_scatter(
            x=[point.k for point in points],
            y=[point.value for point in points],
            mode="lines+markers",
            **look,
            line={"color": LIGHT.soft, "width": 1.5},
            hoverinfo="text",
            hovertext=[
                f"<b>{plain(line.name)}</b><br>{vote}: {one_decimal(point.value)}"
                for vote, point in zip(votes, points, strict=True)
            ],
        )
        if final is not None:
            hover = hover_of(page, line.name, group=votes[-1], estimate=final)
            figure.add_scatter(
                x=[last.k],
                y=[final.value],
                mode="markers",
                hovertext=[hover],
                hoverinfo="text",
                error_y=error_bars([final], LIGHT.ink),
                **look,
            )
        text = f"<b>{one_decimal(last.value)}</b>  {plain(line.name, 14 if page.narrow else 34)}"
        figure.add_annotation(
            x=0.58 if page.narrow else 0.77,
            xref="paper",
            xanchor="left",
            y=end,
            text=text,
            showarrow=False,
            font={"color": LIGHT.ink, "size": 12},
        )
    if low <= chance <= high:
        figure.add_hline(
            y=chance,
            line={"color": LIGHT.chance, "width": 1},
            annotation_text=page.text(_("chance")),
            annotation_position="top left",
        )
    figure.update_xaxes(range=[0.7, most + 0.2], domain=[0, 0.55 if page.narrow else 0.75], dtick=2, tick0=1)
    figure.update_xaxes(title={"text": page.text(_("Votes per pair")), "standoff": 4, "font_size": 13})
    axis = with_legend(words.axis, (final for _points, final in drawn))
    finish(figure, page, words=replace(words, axis=axis), height=_CURVES)
    figure.layout.annotations[-1].yshift = -60
    figure.layout.margin.b += 26
    figure.update_yaxes(range=[low, high], nticks=6, showgrid=True, gridcolor=LIGHT.line)
    return figure


def reach_of(values: Sequence[float], chance: float | None = None) -> tuple[float, float]:
    """Return the range of an axis: what is drawn, and chance (percent) where it is within ten points of it."""
    low, high = min(values), max(values)
    if chance is not None and low - 10 <= chance <= high + 10:
        low, high = min(low, chance), max(high, chance)
    pad = max(1.0, 0.08 * (high - low))
    return max(0.0, low - pad), min(100.0, high + pad)


def _apart(values: Sequence[float], gap: float) -> list[float]:
    """Return the values moved as little as needed for labels to stand `gap` from one another: neighbours share each
    push."""
    order = sorted(range(len(values)), key=values.__getitem__)
    moved = list(values)
    for _round in range(60):
        for lower, upper in pairwise(order):
            overlap = gap - (moved[upper] - moved[lower])
            if overlap > 0:
                moved[lower] -= overlap / 2
                moved[upper] += overlap / 2
    return moved
