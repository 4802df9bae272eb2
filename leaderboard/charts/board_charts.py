"""Charts of the board: agreement, history."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from leaderboard.anonymity import is_anonymous
from leaderboard.board.rows import BoardRow
from leaderboard.charts.base import (
    HERE,
    Cells,
    Chart,
    ChartQuery,
    chosen_judges,
    empty_chart,
    headline_name,
    rules,
    to_chart,
)
from leaderboard.charts.dot_plots import reach_of
from leaderboard.charts.estimates import SnapshotEntry, in_percent
from leaderboard.charts.layout import ChartText, Page, hover_text, isolated
from leaderboard.charts.scatter_plots import (
    CELLS_WITH_NUMBERS,
    Point2D,
    ScatterPanel,
    matrix,
    planes,
)
from vlrb.baselines import EARLIER
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal
from vlrb.statistics.pairwise import AGREEMENT_AT_MOST

MOST_SPOTS = 400  # of a tier; the best ones
_BY_MONTH = {"type": "date", "tickformat": "%Y-%m"}
_DATES = _("Date of submission or publication")


def agreement_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Agreement of the judges chosen, corrected for a random order; among the numbers their error consistency."""
    result, notes = chosen_judges(entries, view)
    relations = view.relations
    if not result:
        return empty_chart(notes)
    if relations is None:
        return empty_chart((*notes, _("Agreement follows about a minute after scores. Reload the page then.")))
    place = {name: at for at, name in enumerate(relations.entries[: len(relations.agreement)])}
    known = [judge for judge in result if judge.id in place]
    anonymous = {entry["id"] for entry in entries if is_anonymous(entry)}
    if hidden := [judge.name for judge in result if judge.id in anonymous]:
        text = _(
            "Left out, because agreement would reveal the owner of an anonymous entry: {names}.",
            names=joined(map(isolated, hidden)),
        )
        notes += (text,)
    if missing := [judge.name for judge in result if judge.id not in place and judge.id not in anonymous]:
        text = _(
            "We compare the best version of each judge, and the best {most} judges. Left out: {names}.",
            most=AGREEMENT_AT_MOST,
            names=joined(map(isolated, missing)),
        )
        notes += (text,)
    if len(known) < 2:
        return empty_chart((*notes, _("Agreement needs two judges or more. Choose another one above.")))
    at = [place[judge.id] for judge in known]
    square = relations.agreement[np.ix_(at, at)]
    values = [[None if math.isnan(value) else float(value) for value in line] for line in square]
    pairs = relations.pairs
    words = ChartText(
        _("Which judges judge alike"),
        _(
            "How often the majority verdicts of two judges are the same, right or wrong, corrected for a random order: "
            "1 is full agreement, 0 what chance gives."
        ),
        axis=_(
            "The stronger the shade, the more they agree; agreement does not mean accuracy (n {pairs} pairs)",
            pairs=f"{pairs:,}",
        ),
    )
    notes += (_("This agreement needs no label, so it is the same under all rules."),)
    if len(known) > CELLS_WITH_NUMBERS:
        notes += (_("Up to {most} judges have their numbers in the cells.", most=CELLS_WITH_NUMBERS),)
    header: tuple[str, ...] = (_("judge"), _("other judge"), _("agreement, corrected"))
    names = [judge.name for judge in known]
    places = list(combinations(range(len(known)), 2))
    cells: list[Cells] = [(names[i], names[j], values[i][j]) for i, j in places]
    if relations.outcomes is not None:
        text = _(
            "Error consistency (Geirhos 2020), among the numbers below, says whether two judges err on the same pairs: "
            "0 is what judges of their accuracies do that err independently."
        )
        notes += (text,)
        header = (*header, _("error consistency"))
        consistency = [relations.error_consistency(known[i].id, known[j].id) for i, j in places]
        cells = [(*row, value) for row, value in zip(cells, consistency, strict=True)]
    drawn = matrix(names, values, page=view.page, words=words)
    return to_chart(drawn, words, notes=notes, rows=cells, header=header)


def history_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the best headline score so far, among judges scored here and among reported results."""
    key, title = view.spec.headline, headline_name(view.spec)
    rows = [row for row in view.rows if row.value(key) is not None and row.date and row.tier != "baseline"]
    if not rows:
        return empty_chart((_("Nothing on the board has a date and a {score} yet.", score=title),))
    best = [row for tier in ("reported", "scored") for row in _records(rows, tier, key=key)]
    last = max([row.date for row in rows] + [view.as_of])[:10]
    spots = _cloud(rows, best, view=view)
    words = ChartText(
        _("Best {score} so far", score=title),
        _(
            "Every result by its date. Those better than all before them are strong and joined. Filled and solid: "
            "scored here, with 95% intervals; hollow and dotted: reported. {rules}",
            rules=rules(view),
        ),
        axis=_("{score}, % (up is better), n {n} results", score=headline_name(view.spec, first=True), n=len(rows)),
    )
    steps = _steps(rows, key, last=last)
    reach, levels = score_range(spots, view), level_lines(spots, view)
    plane = ScatterPanel(spots, reach, across=_BY_MONTH, under=_DATES, levels=levels, steps=steps)
    luck = _("The best of many results is better by luck alone. Intervals do not correct for that.")
    notes = (luck, *reported_note(rows))
    records = {row.id for row in best}
    cells = [
        (*row_cells(row, key), row.date[:10], row.source or HERE, "yes" if row.id in records else "no")
        for row in sorted(rows, key=lambda row: (row.tier, row.date))
    ]
    header = (*_points(key), _("date"), _("source"), _("best so far"))
    return to_chart(planes([plane], view.page, words=words), words, notes=notes, rows=cells, header=header)


def _records(rows: Sequence[BoardRow], tier: str, *, key: str) -> list[BoardRow]:
    """Return the rows of a tier that were better than all before them; none that leads nothing."""
    own = [row for row in rows if row.tier == tier and row.leads]
    return [own[at] for at in best_so_far((row.date, row.value(key) or 0.0) for row in own)]


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
        for spot in points_of(others, [row.date[:10] for row in others], named=set(), view=view)
    ]
    latest = best[::-1]
    return [*weak, *points_of(latest, [row.date[:10] for row in latest], named=records, view=view)]


def _steps(rows: Sequence[BoardRow], key: str, *, last: str) -> list[tuple[list[str], list[float], bool]]:
    """Return the best score of each tier over time, up to the last day."""
    steps: list[tuple[list[str], list[float], bool]] = []
    for tier in ("reported", "scored"):
        if best := _records(rows, tier, key=key):
            days, values = [row.date[:10] for row in best], [100 * (row.value(key) or 0.0) for row in best]
            steps.append(([*days, last], [*values, values[-1]], tier == "reported"))
    return steps


def ranked(view: ChartQuery) -> list[BoardRow]:
    """Return the rows with a score, best first, at most MOST_SPOTS of each tier."""
    headline = view.spec.headline
    rows = [row for row in view.rows if row.value(headline) is not None]
    rows.sort(key=lambda row: row.value(headline) or 0, reverse=True)
    tiers = [[row for row in rows if row.tier == tier][:MOST_SPOTS] for tier in ("scored", "reported")]
    return [row for tier in tiers for row in tier]


def points_of(
    rows: Sequence[BoardRow], x: Sequence[float | str], *, named: set[str], view: ChartQuery
) -> list[Point2D]:
    """Return the points; those of ``named`` have their name where there is room, the first of them first."""
    spots = []
    for at, (row, across) in enumerate(zip(rows, x, strict=True)):
        value, ends = 100 * (row.value(view.spec.headline) or 0), in_percent(row.interval.get(view.spec.headline))
        hover = _row_hover(row, value, ends=ends, page=view.page)
        rank = at if row.id in named else None
        hollow = row.tier != "scored"
        link = f"entries/{row.id}"
        spots.append(Point2D(_name(row), across, value, hover=hover, hollow=hollow, y_ends=ends, rank=rank, link=link))
    return spots


def _row_hover(row: BoardRow, value: float, *, ends: tuple[float, float] | None, page: Page) -> str:
    """Return what is said of a row under the pointer."""
    number = one_decimal(value)
    if ends:
        low, high = map(one_decimal, ends)
        number = page.text(_("{value}, 95% interval {low} to {high}", value=number, low=low, high=high))
    source = row.source if row.tier == "reported" else page.text(HERE)
    return hover_text(_name(row), number, source, *([page.text(row.note)] if row.note else []))


def _name(row: BoardRow) -> str:
    return " ".join(f"{row.model} {row.version}".split())


def _points(headline: str) -> tuple[str, ...]:
    return (_("judge"), _("tier"), f"{headline}, %", _("95% low"), _("95% high"))


def row_cells(row: BoardRow, headline: str) -> tuple[object, ...]:
    return (
        _name(row),
        row.tier,
        100 * (row.value(headline) or 0),
        *(in_percent(row.interval.get(headline)) or (None, None)),
    )


def score_range(spots: Sequence[Point2D], view: ChartQuery) -> tuple[float, float]:
    values = [spot.y for spot in spots] + [end for spot in spots if spot.y_ends for end in spot.y_ends]
    ceiling = [score for score, _name in _ceiling(view)]
    return reach_of([*values, *ceiling], 100 * view.spec.chance(view.spec.headline))


def level_lines(spots: Sequence[Point2D], view: ChartQuery) -> list[tuple[float, str]]:
    """Return the heights of chance, where the axis reaches it, and of what errors of earlier labels leave of a perfect
    score."""
    (low, high), chance = score_range(spots, view), 100 * view.spec.chance(view.spec.headline)
    name = _("chance ({chance}%)", chance=view.spec.chance_percent(view.spec.headline))
    return [*([(chance, name)] if low <= chance <= high else []), *_ceiling(view)]


def _ceiling(view: ChartQuery) -> list[tuple[float, str]]:
    perfect = next((row for row in view.rows if row.id == EARLIER), None)
    score = None if perfect is None else perfect.value(view.spec.headline)
    if score is None or score == 1:
        return []
    return [(100 * score, _("perfect by the first labels ({score}%)", score=one_decimal(100 * score)))]


def reported_note(rows: Sequence[BoardRow]) -> tuple[str, ...]:
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
