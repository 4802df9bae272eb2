"""Charts of all results: the best so far, and accuracy against size, price, tokens and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leaderboard.charts.base import (
    HERE,
    NO_BOUNDS,
    Cells,
    Chart,
    ChartQuery,
    empty_chart,
    headline_name,
    rules,
)
from leaderboard.charts.dot_plots import reach_of
from leaderboard.charts.estimates import SnapshotEntry, in_percent
from leaderboard.charts.layout import ChartText, Page, hover_text, with_interval
from leaderboard.charts.scatter_plots import Point2D, ScatterPanel, planes
from leaderboard.ranking.rows import BoardRow
from vlrb.baselines import EARLIER
from vlrb.common.messages import _, ngettext
from vlrb.common.rounding import one_decimal

MOST_SPOTS = 400  # of a tier; the best ones
_BY_MONTH = {"type": "date", "tickformat": "%Y-%m"}
_DATES = _("Date of submission or publication")
_EMPTY = (
    _("No judge on the board states the price, the tokens or the time of its run."),
    _(
        "vlrb judge submit fills them in. Of an entry of yours you can state them on its page in your "
        "account, and with a submission under “What the run cost”."
    ),
)


def _tokens(row: BoardRow) -> float | None:
    stated = [row.stated[name] for name in ("tokens_in", "tokens_out") if row.stated.get(name) is not None]
    return float(sum(stated)) if stated else None


_Measures = Mapping[str, Callable[[BoardRow], float | None]]
"""The titles of horizontal axes, and what of a row they measure."""
_SIZE: _Measures = {_("Parameters, billions"): lambda row: row.parameters_b}
_COSTS: _Measures = {
    _("Price of a run, US $"): lambda row: row.stated.get("price_usd"),
    _("Tokens of a run, in and out"): _tokens,
    _("Time of a run, seconds"): lambda row: row.stated.get("wall_seconds"),
}


def history_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the best headline score so far, among judges scored here and among reported results."""
    key, title = view.spec.headline, headline_name(view.spec)
    rows = [row for row in view.rows if row.value(key) is not None and row.date and row.tier != "baseline"]
    if not rows:
        return empty_chart((_("Nothing on the board has a date and a {score} yet.", score=title),))
    best = {tier: _records([row for row in rows if row.tier == tier], key) for tier in ("reported", "scored")}
    last = max([row.date for row in rows] + [view.as_of])[:10]
    spots = _cloud(rows, [*best["reported"], *best["scored"]], view=view)
    words = ChartText(
        _("Best {score} so far", score=title),
        _(
            "Every result by its date. Those better than all before them are strong and joined. Filled and solid: "
            "scored here, with 95% intervals; hollow and dotted: reported. {rules}",
            rules=rules(view),
        ),
        axis=_("{score}, % (up is better), n {n} results", score=headline_name(view.spec, first=True), n=len(rows)),
    )
    steps = []
    for tier, found in best.items():
        if values := _percents(found, key):
            steps.append(([*(row.date[:10] for row in found), last], [*values, values[-1]], tier == "reported"))
    reach, levels = heights(spots, view)
    plane = ScatterPanel(spots, reach, across=_BY_MONTH, under=_DATES, levels=levels, steps=steps)
    luck = _("The best of many results is better by luck alone. Intervals do not correct for that.")
    notes = (luck, *_reported_note(rows))
    records = {row.id for found in best.values() for row in found}
    cells = [
        (*_row_cells(row, key), row.date[:10], row.source or HERE, "yes" if row.id in records else "no")
        for row in sorted(rows, key=lambda row: (row.tier, row.date))
    ]
    header = (*_points(key), _("date"), _("source"), _("best so far"))
    return Chart(planes([plane], view.page, words=words), words, notes=notes, rows=cells, header=header)


def _records(rows: Sequence[BoardRow], key: str) -> list[BoardRow]:
    """Return the rows that were better than all before them; none that leads nothing."""
    leading = [row for row in rows if row.leads]
    return [leading[at] for at in best_so_far((row.date, row.value(key) or 0.0) for row in leading)]


def _percents(rows: Iterable[BoardRow], key: str) -> list[float]:
    return [100 * (row.value(key) or 0.0) for row in rows]


def best_so_far(points: Iterable[tuple[Any, float]]) -> list[int]:
    """Return indices of the points (ISO date or cost, score) that are better than everything before, in that order; of
    equal dates or costs the best. Over costs this is the Pareto front."""
    listed = list(points)
    best, records = -math.inf, []
    for index in sorted(range(len(listed)), key=lambda at: (listed[at][0], -listed[at][1])):
        if listed[index][1] > best:
            best = listed[index][1]
            records.append(index)
    return records


def _cloud(rows: Sequence[BoardRow], best: Sequence[BoardRow], *, view: ChartQuery) -> list[Point2D]:
    """Return a point for each row; those better than all before them are strong, and the last of them named first."""
    records = {row.id for row in best}
    others = [row for row in rows if row.id not in records][:MOST_SPOTS]
    weak = [
        replace(spot, faint=True, rank=None, y_ends=None)
        for spot in _points_of(others, [row.date[:10] for row in others], named=set(), view=view)
    ]
    latest = best[::-1]
    return [*weak, *_points_of(latest, [row.date[:10] for row in latest], named=records, view=view)]


def _ranked(view: ChartQuery) -> list[BoardRow]:
    """Return the rows with a score, best first, at most MOST_SPOTS of each tier."""
    headline = view.spec.headline
    rows = [row for row in view.rows if row.value(headline) is not None]
    rows.sort(key=lambda row: row.value(headline) or 0, reverse=True)
    tiers = [[row for row in rows if row.tier == tier][:MOST_SPOTS] for tier in ("scored", "reported")]
    return [row for tier in tiers for row in tier]


def _points_of(
    rows: Sequence[BoardRow], x: Sequence[float | str], *, named: set[str], view: ChartQuery
) -> list[Point2D]:
    """Return the points; those of ``named`` have their name where there is room, the first of them first."""
    key = view.spec.headline
    return [
        Point2D(
            row.name,
            across,
            value,
            hover=_row_hover(row, with_interval(value, in_percent(row.interval.get(key))), view.page),
            hollow=row.tier != "scored",
            y_ends=in_percent(row.interval.get(key)),
            rank=at if row.id in named else None,
            link=f"entries/{row.id}",
        )
        for at, (row, across, value) in enumerate(zip(rows, x, _percents(rows, key), strict=True))
    ]


def _row_hover(row: BoardRow, value: str, page: Page) -> str:
    """Return what is said of a row under the pointer."""
    source = row.source if row.tier == "reported" else page.text(HERE)
    return hover_text(row.name, page.text(value), source, *([page.text(row.note)] if row.note else []))


def _points(headline: str) -> tuple[str, ...]:
    return (_("judge"), _("tier"), f"{headline}, %", _("95% low"), _("95% high"))


def _row_cells(row: BoardRow, headline: str) -> Cells:
    return (row.name, row.tier, *_percents([row], headline), *(in_percent(row.interval.get(headline)) or NO_BOUNDS))


def heights(spots: Sequence[Point2D], view: ChartQuery) -> tuple[tuple[float, float], list[tuple[float, str]]]:
    """Return the range of an axis of scores, and the levels drawn in it: chance, where the axis reaches it, and what
    errors of earlier labels leave of a perfect score."""
    values = [end for spot in spots for end in (spot.y, *(spot.y_ends or ()))]
    ceiling, chance = _ceiling(view), 100 * view.spec.chance(view.spec.headline)
    low, high = reach_of([*values, *(score for score, _name in ceiling)], chance)
    name = _("chance ({chance}%)", chance=view.spec.chance_percent(view.spec.headline))
    return (low, high), [*([(chance, name)] if low <= chance <= high else []), *ceiling]


def _ceiling(view: ChartQuery) -> list[tuple[float, str]]:
    perfect = next((row for row in view.rows if row.id == EARLIER), None)
    score = None if perfect is None else perfect.value(view.spec.headline)
    if score is None or score == 1:
        return []
    return [(100 * score, _("perfect by the first labels ({score}%)", score=one_decimal(100 * score)))]


def _reported_note(rows: Sequence[BoardRow]) -> tuple[str, ...]:
    if not any(row.tier == "reported" for row in rows):
        return ()
    return (_("Reported figures follow their sources' rules and categories, which differ; intervals are unpaired."),)


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """Return a logarithmic axis that ends at its data."""
    low, high = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high)) for step in steps]
    ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
    return {"type": "log", "range": [low, high], "exponentformat": "SI", "tickvals": ticks if len(ticks) > 1 else None}


# --- what is spent ----------------------------------------------------------------------------------------------------


def size_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the headline score over the number of parameters, of judges scored here and reported results."""
    rows = [row for row in _ranked(view) if row.parameters_b]
    if not rows:
        text = _("No judge on the board states its number of parameters. It can be stated with a submission.")
        return empty_chart((text,))
    words = ChartText(
        _("{score} and model size", score=headline_name(view.spec, first=True)),
        _(
            "Each judge that states its size. Filled: scored here, with 95% intervals; hollow: reported, by its "
            "source's own rule. The line joins judges scored here that no smaller one beats. {rules}",
            rules=rules(view),
        ),
        axis=_("Across: log scale. Up: {score}, % (up is better)", score=headline_name(view.spec)),
    )
    silent = sum(1 for row in _ranked(view) if not row.parameters_b)
    text = ngettext("{n} row does not state a size.", "{n} rows do not state a size.", silent)
    return _scales(rows, _SIZE, view=view, words=words, notes=(*((text,) if silent else ()), *_reported_note(rows)))


def cost_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the headline score over price, tokens and time of the run."""
    rows = [row for row in _ranked(view) if row.tier == "scored" and row.leads]
    if not any(read(row) for read in _COSTS.values() for row in rows):
        return empty_chart(_EMPTY, _("Accuracy and cost"))
    words = ChartText(
        _("{score} and what a run cost", score=headline_name(view.spec, first=True)),
        _(
            "Judges scored here whose owners state it, with 95% intervals. The line is the Pareto front: it joins "
            "judges that no cheaper one beats. {rules}",
            rules=rules(view),
        ),
        axis=_("Across: log scale (left is cheaper). Up: {score}, % (up is better)", score=headline_name(view.spec)),
    )
    silent = sum(all(read(row) is None for read in _COSTS.values()) for row in rows)
    free = sum(any(read(row) == 0 for read in _COSTS.values()) for row in rows)
    notes = (
        _("Stated by the owners of the entries, not measured here. More votes per pair cost more."),
        *((_("{n} of {judges} judges scored here state none of it.", n=silent, judges=len(rows)),) if silent else ()),
        *((_("{n} of {judges} state 0, which a log scale cannot show.", n=free, judges=len(rows)),) if free else ()),
    )
    return _scales(rows, _COSTS, view=view, words=words, notes=notes)


def _scales(
    rows: Sequence[BoardRow], measures: _Measures, *, view: ChartQuery, words: ChartText, notes: tuple[str, ...]
) -> Chart:
    """Return the headline score over each measure that a row has, with the Pareto front of those scored here."""
    key, panels = view.spec.headline, []
    cells: list[Cells] = []
    for title, read in measures.items():
        results = [(row, value) for row in rows if (value := read(row))]
        if results:
            ours = [(value, row) for row, value in results if row.tier == "scored" and row.leads]
            front = [ours[at] for at in best_so_far((value, row.value(key) or 0.0) for value, row in ours)]
            panels.append(_panel(title, results, front, view=view))
            best = {row.id for _value, row in front}
            cells += [
                (title, *_row_cells(row, key), value, row.source or HERE, "yes" if row.id in best else "no")
                for row, value in results
            ]
    header = (_("across"), *_points(key), _("value"), _("source"), _("on the front"))
    return Chart(planes(panels, view.page, words=words), words, notes=notes, rows=cells, header=header)


def _panel(
    title: str,
    results: Sequence[tuple[BoardRow, float]],
    front: Sequence[tuple[float, BoardRow]],
    *,
    view: ChartQuery,
) -> ScatterPanel:
    """Return one pair of axes; those on the front are named, and the best at each place."""
    rows, places = [row for row, _value in results], [value for _row, value in results]
    best = {value: row.id for row, value in sorted(results, key=lambda one: one[0].value(view.spec.headline) or 0)}
    spots = _points_of(rows, places, named={*best.values(), *(row.id for _value, row in front)}, view=view)
    across, (y_range, levels) = log_axis(places), heights(spots, view)
    steps = []
    if front:
        xs, ys = [value for value, _row in front], _percents((row for _value, row in front), view.spec.headline)
        steps = [([xs[0], *xs, 10 ** across["range"][1]], [y_range[0], *ys, ys[-1]], False)]
    return ScatterPanel(
        spots,
        y_range,
        across=across,
        title=title,
        subtitle=f"n {len(results)}",
        levels=levels,
        steps=steps,
    )
