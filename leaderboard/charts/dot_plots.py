"""Dot plots, heat maps and curves of estimates: traces and layout in Plotly's JSON (plotly.js 3).

The figures look like the board: one line per judge, the number, then a dot on a common axis with its 95% interval
behind it and a mark at chance. Colour means category; position and name distinguish judges. Everything is placed
in pixels for the width that the reader's page has: the vertical axis of a drawing counts pixels from its top.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from leaderboard.board.columns import by_key
from leaderboard.charts.colours import Palette
from leaderboard.charts.estimates import Estimate, Point, signed
from leaderboard.charts.layout import (
    BESIDE_NAMES,
    CHANCE,
    FADED,
    SMALL,
    ChartText,
    Estimates,
    Page,
    bare_axis,
    base_layout,
    error_bars,
    faded,
    fitting,
    hairline,
    hover_of,
    label,
    name_lines,
    names_width,
    of_few,
    pairs_text,
    plain,
    reach,
    text_width,
    under,
    with_legend,
)
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.json_types import Json
from vlrb.common.messages import _
from vlrb.common.rounding import one_decimal

_ROW, _NARROW_ROW, _HEADER, _NARROW_HEADER, _CURVES = 36, 44, 42, 130, 380  # heights
_NUMBER, _PANEL, _GAP, _EDGE, _WIDEST = 48, 150, 28, 12, 560  # widths
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a drawing: its name, a few words in small type beside it, and whether others reported it.

    A ``heading`` has no numbers: it says what is beneath it.
    """

    name: str
    small: str = ""
    hollow: bool = False
    heading: bool = False


@dataclass(frozen=True, slots=True)
class _Panel:
    """One axis with a line per name: what it is called, how many pairs it has, and what is on each line."""

    title: str
    pairs: str
    colours: tuple[str, ...]
    lines: tuple[ChartLine, ...]
    estimates: tuple[Estimate | None, ...]
    chances: tuple[float, ...]  # of each line, percent


# --- dot panels -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where things stand, in pixels.

    `used`: of the page's `width`; `names`: the column of names, 0 where names stand above their lines.
    """

    width: int
    used: int
    columns: int
    names: int
    row: int
    lines: int
    panels: int

    @classmethod
    def fitting(cls, panels: Sequence[_Panel], page: Page) -> _Grid:
        lines = len(panels[0].lines)
        if page.narrow:
            return cls(page.width, page.width, columns=1, names=0, row=_NARROW_ROW, lines=lines, panels=len(panels))
        names = names_width([f"{line.name}  {line.small}" for line in panels[0].lines if not line.heading] or [""])
        columns = max(1, min(len(panels), (page.width - names) // (_PANEL + _GAP)))
        columns = -(-len(panels) // -(-len(panels) // columns))  # six panels on five columns: two rows of three
        used = min(page.width, names + columns * _WIDEST)
        return cls(page.width, used, columns=columns, names=names, row=_ROW, lines=lines, panels=len(panels))

    @property
    def block(self) -> int:
        """Height of a panel with its header."""
        return _HEADER + self.lines * self.row

    @property
    def height(self) -> int:
        """Of all panels."""
        blocks = -(-self.panels // self.columns)
        return blocks * self.block + (blocks - 1) * _GAP

    def top(self, panel: int) -> int:
        """Return where a panel's header begins."""
        return panel // self.columns * (self.block + _GAP)

    def middle(self, panel: int, line: int) -> float:
        """Return the middle of a line of a panel."""
        return self.top(panel) + _HEADER + (line + 0.5) * self.row

    def dot(self, panel: int, line: int) -> float:
        """Return where the dot of a line is: in the middle, or below the name."""
        return self.middle(panel, line) + (0 if self.names else 10)

    def left(self, column: int) -> float:
        """Return the left edge of a column of panels: the number is there, then the axis begins."""
        return self.names + column * self._stride

    def domain(self, column: int) -> list[float]:
        """Return the axis as fractions of the width; room for half of the last tick's label at the right edge."""
        number = _NUMBER if self.names else 0
        return [(self.left(column) + number) / self.width, (self.left(column) + self._stride - _GAP) / self.width]

    @property
    def roomy(self) -> bool:
        """Whether five ticks and a larger dot have room; a dot must not hide its interval."""
        start, end = self.domain(0)
        return (end - start) * self.width > 130

    def axis(self, panel: int, letter: str = "x") -> str:
        """Return Plotly's name for a panel's axis."""
        column = panel % self.columns
        return f"{letter}{column + 1}" if column else letter

    @property
    def _stride(self) -> float:
        return (self.used - self.names + _GAP - _EDGE) / self.columns


def dots(
    lines: Sequence[ChartLine],
    estimates: Sequence[Estimates],
    *,
    keys: Sequence[str],
    page: Page,
    words: ChartText,
    titles: Mapping[str, str] | None = None,
) -> Json:
    """Return a panel per key with a line per judge; one judge alone gets one panel with a line per key."""
    p = page.palette
    alone = len(lines) == 1 and len(keys) > 1
    panels = (
        _single_panel(lines[0], estimates[0], keys=keys, page=page)
        if alone
        else _panels(lines, estimates, keys=keys, page=page, titles=titles)
    )
    if words.centre is not None:
        panels = [replace(panel, chances=(words.centre,) * len(lines)) for panel in panels]
    grid = _Grid.fitting(panels, page)
    lowest = _lowest(panels, words.start)
    words = replace(words, axis=with_legend(words.axis, (cell for panel in panels for cell in panel.estimates)))
    layout = base_layout(page, words, height=grid.height)
    traces: list[Json] = []
    for index, panel in enumerate(panels):
        traces += _dot_traces(panel, grid, index=index, page=page)
        layout["shapes"] += _panel_lines(panel, grid, index=index, p=p, scale=(lowest, words.end))
        numbers = None if words.centre is None else [signed(cell.value) if cell else "" for cell in panel.estimates]
        layout["annotations"] += _panel_words(panel, grid, index=index, page=page, numbers=numbers)
    _scales(layout, grid, page=page, words=words, lowest=lowest)
    return {"data": traces, "layout": layout}


def dumbbells(
    lines: Sequence[ChartLine], pairs: Sequence[tuple[Estimate, Estimate]], *, page: Page, words: ChartText
) -> Json:
    """Return two values of each judge on one line: a circle and a diamond, their intervals, and how far they are
    apart."""
    p = page.palette
    first, second = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    sizes = " · ".join(filter(None, (f"● {pairs_text(first)}", f"◆ {pairs_text(second)}")))
    colours, chances = (p.ink,) * len(lines), (CHANCE,) * len(lines)
    panel = _Panel(
        page.text(_("● longer   ◆ shorter")),
        sizes,
        colours=colours,
        lines=tuple(lines),
        estimates=first,
        chances=chances,
    )
    other = replace(panel, estimates=second)
    grid = _Grid.fitting([panel], page)
    lowest = _lowest([panel, other], words.start)
    words = replace(words, axis=with_legend(words.axis, (*first, *second)))
    layout = base_layout(page, words, height=grid.height)
    layout["shapes"] = _panel_lines(panel, grid, index=0, p=p, scale=(lowest, words.end))
    for line, (left, right) in enumerate(pairs):
        y = grid.dot(0, line)
        layout["shapes"].append(hairline((left.value, right.value), (y, y), colour=p.soft, xref="x"))
    apart = [signed(first.value - second.value) for first, second in pairs]
    layout["annotations"] += _panel_words(panel, grid, index=0, page=page, numbers=apart)
    _scales(layout, grid, page=page, words=words, lowest=lowest)
    return {
        "data": [
            *_dot_traces(panel, grid, index=0, page=page),
            *_dot_traces(other, grid, index=0, page=page, symbol="diamond"),
        ],
        "layout": layout,
    }


def _scales(layout: Json, grid: _Grid, *, page: Page, words: ChartText, lowest: int) -> None:
    """Add the axes beneath each column of panels, and what they measure."""
    if words.centre is None:
        usual = (0, 25, CHANCE, 75, 100) if grid.roomy else (0, CHANCE, 100)
        ticks = [tick for tick in usual if tick >= lowest]
        chance = str(CHANCE) if page.spec.ties else page.text(_("{value}<br>chance", value=CHANCE))
        labels = [chance if tick == CHANCE else str(tick) for tick in ticks]
    else:
        step = max(5, int((words.end - words.centre) * 0.7) // 5 * 5)
        ticks = [words.centre - step, words.centre, words.centre + step]
        labels = [str(tick).replace("-", "\u2212") for tick in ticks]
    for column in range(grid.columns):
        layout[grid.axis(column, "xaxis")] = bare_axis(
            page.palette, range=[lowest, words.end], domain=grid.domain(column), tickvals=ticks, ticktext=labels
        )
    names_chance = page.spec.ties and words.centre is None
    axis = _("{axis}; upright line: chance", axis=words.axis) if names_chance else words.axis
    under(layout, page, text=axis, shift=42)


def _panels(
    lines: Sequence[ChartLine],
    estimates: Sequence[Estimates],
    *,
    keys: Sequence[str],
    page: Page,
    titles: Mapping[str, str] | None,
) -> list[_Panel]:
    panels = []
    for key in keys:
        result = tuple(values.get(key) for values in estimates)
        pairs = page.text(mean_subtitle(key, page.spec)) or pairs_text(result)
        title = page.text((titles or {}).get(key, page.spec.title_of(key)))
        chances = (page.chance(key),) * len(lines)
        panels.append(
            _Panel(
                title,
                pairs,
                colours=(page.colour(key),) * len(lines),
                lines=tuple(lines),
                estimates=result,
                chances=chances,
            )
        )
    return panels


def mean_subtitle(key: str, spec: BenchmarkSpec) -> str:
    """Return what the board says of a mean, "" of any other score."""
    return by_key(spec)[key].subtitle if spec.is_mean(key) else ""


def _single_panel(judge: ChartLine, estimates: Estimates, *, keys: Sequence[str], page: Page) -> list[_Panel]:
    result = tuple(estimates[key] for key in keys)
    lines = tuple(
        ChartLine(
            page.title_of(key), page.text(mean_subtitle(key, page.spec)) or pairs_text([panel]), hollow=judge.hollow
        )
        for key, panel in zip(keys, result, strict=True)
    )
    return [
        _Panel(
            judge.name,
            "",
            colours=tuple(map(page.colour, keys)),
            lines=lines,
            estimates=result,
            chances=tuple(map(page.chance, keys)),
        )
    ]


def _lowest(panels: Sequence[_Panel], start: int) -> int:
    """Return where the common axis begins: at `start`, or at the ten below the lowest interval."""
    values = [e.low if e.low is not None else e.value for panel in panels for e in panel.estimates if e is not None]
    return min(start, int(min(values, default=start) // 10 * 10))


def _dot_traces(panel: _Panel, grid: _Grid, *, index: int, page: Page, symbol: str = "circle") -> list[Json]:
    """Return a trace per colour, and one for what is hollow: error bars have one colour for all of a trace."""
    p = page.palette
    looks = [
        (colour, line.hollow, of_few(cell))
        for colour, line, cell in zip(panel.colours, panel.lines, panel.estimates, strict=True)
    ]
    traces = []
    for look in dict.fromkeys(looks):
        colour, hollow, few = look
        lines = [i for i, own in enumerate(looks) if own == look and panel.estimates[i] is not None]
        cells = [estimate for i in lines if (estimate := panel.estimates[i]) is not None]
        if not cells:
            continue
        ends = [reach(cell) for cell in cells]
        shade = faded(colour, FADED) if few else colour
        fill: Json = {"color": p.ground, "line": {"color": shade, "width": 1.6}} if hollow else {"color": shade}
        pale = (0.25 if hollow else 0.4) * (FADED if few else 1)
        trace = {
            "type": "scatter",
            "mode": "markers",
            "x": [cell.value for cell in cells],
            "y": [grid.dot(index, line) for line in lines],
            "marker": {**fill, "size": 8 if grid.roomy else 6, "symbol": symbol},
            "error_x": error_bars(colour, pale, above=[up for up, _ in ends], below=[down for _, down in ends]),
            "xaxis": grid.axis(index),
            "cliponaxis": False,
            "hovertext": [
                hover_of(page, panel.lines[i].name, group=panel.title, estimate=panel.estimates[i]) for i in lines
            ],
            "hoverinfo": "text",
        }
        traces.append(trace)
    return traces


def _panel_lines(panel: _Panel, grid: _Grid, *, index: int, p: Palette, scale: tuple[int, int]) -> list[Json]:
    """Return the chance line, the axis behind each dot, the hairlines between judges, and the rule under the header."""
    first, xref = index % grid.columns == 0, grid.axis(index)
    head, right = grid.top(index) + _HEADER, grid.used / grid.width
    chance, joined = panel.chances[0], bool(grid.names) and len(set(panel.chances)) == 1
    shapes = (
        [hairline((chance, chance), (head, head + grid.lines * grid.row), colour=p.chance, xref=xref)] if joined else []
    )
    for line, (what, chance) in enumerate(zip(panel.lines, panel.chances, strict=True)):
        y = grid.dot(index, line)
        if not what.heading:
            shapes.append(hairline(scale, (y, y), colour=p.line, xref=xref))
            if not joined:  # names are above the lines on a telephone, and the chance line must not cross them
                shapes.append(hairline((chance, chance), (y - 7, y + 7), colour=p.chance, xref=xref))
        if first:
            end = head + (line + 1) * grid.row
            shapes.append(hairline((0, right), (end, end), colour=p.line))
    return [*shapes, hairline((0, right), (head, head), colour=p.ink)] if first else shapes


def _panel_words(
    panel: _Panel, grid: _Grid, *, index: int, page: Page, numbers: Sequence[str] | None = None
) -> list[Json]:
    """Return the header with n, the numbers, and the names, once per row of panels."""
    p = page.palette
    column, head = index % grid.columns, grid.top(index) + _HEADER
    pairs = f"<br>{SMALL.format(panel.pairs)}" if panel.pairs else ""
    colour = panel.colours[0] if len(set(panel.colours)) == 1 else p.ink
    header = f"<b>{plain(panel.title, 40)}</b>{pairs}"
    at_header: Json = {"yref": "y", "yanchor": "bottom", "align": "left", "yshift": 4}
    notes = [label(grid.left(column) / grid.width, head, text=header, colour=colour, **at_header)]
    for line, (what, result) in enumerate(zip(panel.lines, panel.estimates, strict=True)):
        y = grid.middle(index, line) - (0 if grid.names or what.heading else 9)
        if column == 0:
            text = _line_words(what, grid, page=page)
            notes.append(label(0, y, text=text, colour=p.soft if what.heading else p.ink, yref="y", align="left"))
        if what.heading:
            continue
        number = one_decimal(result.value) if result is not None else page.text(_("none"))
        number = numbers[line] if numbers is not None else number
        few = of_few(result)
        number = number if result is None or what.hollow or few else f"<b>{number}</b>"
        end = (grid.left(column) + _NUMBER - 15) / grid.width if grid.names else 1
        notes.append(label(end, y, text=number, colour=p.faint if few else p.ink, yref="y", xanchor="right"))
    return notes


def _line_words(line: ChartLine, grid: _Grid, *, page: Page) -> str:
    """Return the name of a line, on two lines or cut in the middle where there is no room, and its small words."""
    if line.heading:
        return f"<b>{plain(page.text(line.name), 60)}</b>"
    small = page.text(line.small)
    own = f"  {SMALL.format(plain(small))}" if small else ""
    beside = text_width(f"  {small}") if small else 0
    if not grid.names:
        return plain(fitting(line.name, page.width - _NUMBER - beside)) + own
    lines = name_lines(line.name, grid.names)
    column = grid.names - BESIDE_NAMES
    if own and len(lines) == 1 and text_width(line.name) + beside > column:
        return f"{plain(line.name)}<br>{SMALL.format(plain(small))}"
    if own:
        lines[-1] = fitting(lines[-1], column - beside)
    return "<br>".join(map(plain, lines)) + own


# --- heat map ---------------------------------------------------------------------------------------------------------


def heat_map(
    names: Sequence[str], estimates: Sequence[Estimates], *, grouping: str, page: Page, words: ChartText
) -> Json:
    """Return judges x sources in shades of the ink; the number is in each cell, so the shade never carries
    alone."""
    p, sources = page.palette, page.spec.source_keys
    row, header = (52, _NARROW_HEADER) if page.narrow else (_ROW, _HEADER)
    layout = base_layout(page, words, height=header + row * len(names))
    offset = 0.68 if page.narrow else 0.5
    ys = [header + row * (line + offset) for line in range(len(names))]
    trace = {
        "type": "heatmap",
        "x": list(range(len(sources))),
        "y": ys,
        "z": [[result.value if (result := e[source]) is not None else None for source in sources] for e in estimates],
        "zmin": 0,
        "zmax": 100,
        "colorscale": [[0, p.raised], [1, p.shade]],
        "showscale": False,
        "xgap": 2,
        "ygap": 24 if page.narrow else 2,
        "dy": row,
        "customdata": [[_strength(e[source]) for source in sources] for e in estimates],
        "hovertext": [
            [hover_of(page, n, group=source, estimate=e[source]) for source in sources]
            for n, e in zip(names, estimates, strict=True)
        ],
        "hoverinfo": "text",
    }
    column = names_width(names)
    left = 0.0 if page.narrow else column / page.width
    across = [-0.5, len(sources) - 0.5]
    layout["xaxis"] = bare_axis(p, range=across, domain=[left, 1], showticklabels=False)
    layout["annotations"] += _source_words(estimates, grouping, page=page, header=header)
    under(layout, page, text=words.axis, shift=12)
    for name, values, y in zip(names, estimates, ys, strict=True):
        layout["annotations"] += _heat_line(name, values, y=y, page=page, names=column)
    return {"data": [trace], "layout": layout}


def _source_words(estimates: Sequence[Estimates], grouping: str, *, page: Page, header: int) -> list[Json]:
    """Return the sources with n, in the colour of their category; upright on a telephone."""
    notes: list[Json] = []
    category = {source: key for key, sources in page.spec.groupings[grouping].items() for source in sources}
    for index, source in enumerate(page.spec.source_keys):
        pairs = pairs_text([values[source] for values in estimates])
        words = f"<b>{source}</b>{'  ' if page.narrow else '<br>'}{SMALL.format(pairs)}"
        turned: Json = {"textangle": -90} if page.narrow else {}
        place: Json = {"xref": "x", "yref": "y", "xanchor": "center", "yanchor": "bottom", "yshift": 5}
        notes.append(label(index, header, text=words, colour=page.colour(category[source]), **place, **turned))
    return notes


def _heat_line(name: str, values: Estimates, *, y: float, page: Page, names: int) -> list[Json]:
    p, above = page.palette, 24 if page.narrow else 0
    lines = [fitting(name, page.width)] if page.narrow else name_lines(name, names)
    notes = [label(0, y - above, text="<br>".join(map(plain, lines)), colour=p.ink, yref="y", align="left")]
    for index, source in enumerate(page.spec.source_keys):
        value = values[source]
        number = one_decimal(value.value) if value is not None else page.text(_("none"))
        colour = p.ink if _strength(value) == 1 else p.faint
        notes.append(label(index, y, text=number, colour=colour, size=12, xref="x", yref="y", xanchor="center"))
    return notes


def _strength(estimate: Estimate | None) -> float:
    """Return how strongly a cell is shaded: one of few pairs says little, however high it is."""
    return FADED if of_few(estimate) else 1.0


# --- lines ------------------------------------------------------------------------------------------------------------


def curves(
    lines: Sequence[ChartLine],
    drawn: Sequence[tuple[Sequence[Point], Estimate | None]],
    *,
    page: Page,
    words: ChartText,
) -> Json:
    """Return lines named at their ends, where the 95% interval of the score is.

    Hollow ones are dashed.
    """
    p = page.palette
    layout = base_layout(page, words, height=_CURVES, above=26)
    most = max(point.k for points, _ in drawn for point in points)
    chance = page.chance(page.spec.headline)
    low, high = _reach(drawn, chance)
    words = replace(words, axis=with_legend(words.axis, (final for _points, final in drawn)))
    ends = _apart([points[-1].value for points, _ in drawn], 18 * (high - low) / _CURVES)
    room = 0.4 if page.narrow else 0.26
    traces: list[Json] = []
    for index, (line, (points, final), end) in enumerate(zip(lines, drawn, ends, strict=True)):
        traces += _curve_traces(line, (points, final), symbol=_SYMBOLS[index % len(_SYMBOLS)], page=page)
        last = points[-1]
        number = one_decimal(last.value) if line.hollow else f"<b>{one_decimal(last.value)}</b>"
        own = f" ({page.text(line.small)})" if line.small and not page.narrow else ""
        name = plain(fitting(line.name, room * page.width - 56 - text_width(own, 12), size=12)) + plain(own)
        shade = p.faint if of_few(final) else p.soft if line.hollow else p.ink
        layout["annotations"].append(
            label(1 - room, end, text=f"{number}  {name}", colour=shade, size=12, yref="y", xshift=8)
        )
        layout["shapes"].append(hairline((last.k, most + 0.35), (last.value, end), colour=p.chance, xref="x"))
    if low <= chance <= high:
        layout["shapes"].append(hairline((0, 1), (chance, chance), colour=p.chance, xref="x domain"))
        at_chance: Json = {"xref": "x domain", "yref": "y", "yanchor": "bottom", "yshift": 2}
        layout["annotations"].append(label(0, chance, text=page.text(_("chance")), colour=p.soft, size=12, **at_chance))
    layout["annotations"] += [
        label(0, 1, text=page.text(words.axis), colour=p.soft, yanchor="bottom", yshift=8),
        label(0, 0, text=page.text(_("Votes per pair")), colour=p.soft, xref="x domain", yanchor="top", yshift=-30),
    ]
    ticks = list(range(1, most + 1, 2))
    beside = 30 / page.width
    layout["xaxis"] = bare_axis(p, range=[0.65, most + 0.35], domain=[beside, 1 - room], tickvals=ticks)
    layout["yaxis"] = bare_axis(p, range=[low, high], nticks=6) | {"showgrid": True, "gridcolor": p.line}
    return {"data": traces, "layout": layout}


def _reach(drawn: Sequence[tuple[Sequence[Point], Estimate | None]], chance: float) -> tuple[float, float]:
    """Return the range of the axis: what is drawn, intervals included, and chance (percent) where it is within ten
    points of it."""
    values = [point.value for points, _ in drawn for point in points]
    values += [end for _, e in drawn if e is not None for end in (e.low, e.high) if end is not None]
    low, high = min(values), max(values)
    if low - 10 <= chance <= high + 10:
        low, high = min(low, chance), max(high, chance)
    pad = max(1.0, 0.06 * (high - low))
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


def _curve_traces(
    what: ChartLine, drawn: tuple[Sequence[Point], Estimate | None], *, symbol: str, page: Page
) -> list[Json]:
    (points, final), p = drawn, page.palette
    name = what.name
    ink, soft = (faded(colour, FADED) if of_few(final) else colour for colour in (p.ink, p.soft))
    fill: Json = {"color": p.ground, "line": {"color": p.soft, "width": 1.6}} if what.hollow else {"color": ink}
    marker = {**fill, "size": 8, "symbol": symbol}
    both = {"type": "scatter", "marker": marker, "hoverinfo": "text", "cliponaxis": False}
    line = {
        **both,
        "mode": "lines+markers",
        "line": {"color": soft, "width": 1.5, "dash": "dot" if what.hollow else "solid"},
        "x": [point.k for point in points],
        "y": [point.value for point in points],
        "hovertext": [
            f"<b>{plain(name, 60)}</b><br>{page.text(_votes(point.k))}: {one_decimal(point.value)}" for point in points
        ],
    }
    if final is None:
        return [line]
    up, down = reach(final)
    last = points[-1].k
    end = {
        "x": [last],
        "y": [final.value],
        "error_y": error_bars(p.ink, 0.25 * (FADED if of_few(final) else 1), above=[up], below=[down]),
    }
    return [
        line,
        {**both, "mode": "markers", **end, "hovertext": [hover_of(page, name, group=_votes(last), estimate=final)]},
    ]


def _votes(k: int) -> str:
    return _("{k} votes", k=k)
