"""Chart of accuracy against what a run cost: price, tokens, time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from leaderboard.board.rows import BoardRow
from leaderboard.charts.base import Cells, Chart, ChartQuery, empty_chart, headline_name, rules, to_chart
from leaderboard.charts.board_charts import (
    best_so_far,
    level_lines,
    log_axis,
    points_of,
    ranked,
    row_cells,
    score_range,
)
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.charts.layout import ChartText
from leaderboard.charts.scatter_plots import ScatterPanel, planes
from vlrb.common.messages import _

_EMPTY = (
    _("No judge on the board states the price, the tokens or the time of its run."),
    _(
        "vlrb judge submit fills them in. Of an entry of yours you can state them on its page in your "
        "account, and with a submission under “What the run cost”."
    ),
)


_Costs = Sequence[tuple[BoardRow, float]]


class _Measure(NamedTuple):
    """One horizontal axis."""

    title: str
    read: Callable[[BoardRow], float | None]


def _tokens(row: BoardRow) -> float | None:
    stated = [row.stated[name] for name in ("tokens_in", "tokens_out") if row.stated.get(name) is not None]
    return float(sum(stated)) if stated else None


_MEASURES = (
    _Measure(_("Price of a run, US $"), lambda row: row.stated.get("price_usd")),
    _Measure(_("Tokens of a run, in and out"), _tokens),
    _Measure(_("Time of a run, seconds"), lambda row: row.stated.get("wall_seconds")),
)


def cost_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Headline score over price, tokens and time of the run, each with its Pareto front."""
    key, title = view.spec.headline, headline_name(view.spec, first=True)
    rows = [row for row in ranked(view) if row.tier == "scored" and row.leads]
    chosen = {str(entry["id"]) for entry in entries}
    panels: list[ScatterPanel] = []
    cells: list[Cells] = []
    for measure in _MEASURES:
        results = [(row, value) for row in rows if (value := measure.read(row))]
        if results:
            front = [results[at] for at in best_so_far((value, row.value(key) or 0.0) for row, value in results)]
            panels.append(_panel(measure.title, (results, front), chosen=chosen, view=view))
            best = {row.id for row, _value in front}
            cells += [
                (measure.title, *row_cells(row, key), value, "yes" if row.id in best else "no")
                for row, value in results
            ]
    if not panels:
        return empty_chart(_EMPTY, _("Accuracy and cost"))
    words = ChartText(
        _("{score} and what a run cost", score=title),
        _(
            "Judges scored here whose owners state it, with 95% intervals. The line is the Pareto front: it joins "
            "judges that no cheaper one beats. {rules}",
            rules=rules(view),
        ),
        axis=_("Across: log scale (left is cheaper). Up: {score}, % (up is better)", score=headline_name(view.spec)),
    )
    silent = sum(all(measure.read(row) is None for measure in _MEASURES) for row in rows)
    free = sum(any(measure.read(row) == 0 for measure in _MEASURES) for row in rows)
    notes = (
        _("Stated by the owners of the entries, not measured here. More votes per pair cost more."),
        *((_("{n} of {judges} judges scored here state none of it.", n=silent, judges=len(rows)),) if silent else ()),
        *((_("{n} of {judges} state 0, which a log scale cannot show.", n=free, judges=len(rows)),) if free else ()),
    )
    ends = (_("95% low"), _("95% high"))
    header = (_("cost"), _("judge"), _("tier"), f"{key}, %", *ends, _("value"), _("on the front"))
    return to_chart(planes(panels, view.page, words=words), words, notes=notes, rows=cells, header=header)


def _panel(title: str, rows: tuple[_Costs, _Costs], *, chosen: set[str], view: ChartQuery) -> ScatterPanel:
    """Return one pair of axes. `rows`: all, and those on the front, which are named first."""
    result, front = rows
    named = chosen | {row.id for row, _value in front}
    spots = points_of([row for row, _value in result], [value for _row, value in result], chosen=named, view=view)
    across = log_axis([value for _row, value in result])
    y_range = score_range(spots, view)
    xs = [value for _row, value in front]
    ys = [100 * (row.value(view.spec.headline) or 0) for row, _value in front]
    steps = [([xs[0], *xs, 10 ** across["range"][1]], [y_range[0], *ys, ys[-1]], False)]
    levels = level_lines(spots, view)
    return ScatterPanel(
        spots, y_range, across=across, title=title, subtitle=f"n {len(result)}", levels=levels, steps=steps
    )
