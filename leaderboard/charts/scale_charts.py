"""Charts of accuracy against what is spent on it: the size of a model, and price, tokens and time of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from leaderboard.board.rows import BoardRow
from leaderboard.charts.base import HERE, Cells, Chart, ChartQuery, empty_chart, headline_name, rules, to_chart
from leaderboard.charts.board_charts import (
    best_so_far,
    level_lines,
    log_axis,
    points_of,
    ranked,
    reported_note,
    row_cells,
    score_range,
)
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.charts.layout import ChartText
from leaderboard.charts.scatter_plots import ScatterPanel, planes
from vlrb.common.messages import _, ngettext

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


def size_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the headline score over the number of parameters, of judges scored here and reported results."""
    rows = [row for row in ranked(view) if row.parameters_b]
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
    silent = sum(1 for row in ranked(view) if not row.parameters_b)
    text = ngettext("{n} row does not state a size.", "{n} rows do not state a size.", silent)
    return _scales(rows, _SIZE, view=view, words=words, notes=(*((text,) if silent else ()), *reported_note(rows)))


def cost_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the headline score over price, tokens and time of the run."""
    rows = [row for row in ranked(view) if row.tier == "scored" and row.leads]
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
                (title, *row_cells(row, key), value, row.source or HERE, "yes" if row.id in best else "no")
                for row, value in results
            ]
    ends, about = (_("95% low"), _("95% high")), (_("source"), _("on the front"))
    header = (_("across"), _("judge"), _("tier"), f"{key}, %", *ends, _("value"), *about)
    return to_chart(planes(panels, view.page, words=words), words, notes=notes, rows=cells, header=header)


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
    spots = points_of(rows, places, named={*best.values(), *(row.id for _value, row in front)}, view=view)
    across, y_range = log_axis(places), score_range(spots, view)
    steps = []
    if front:
        xs, ys = [value for value, _row in front], [100 * (row.value(view.spec.headline) or 0) for _value, row in front]
        steps = [([xs[0], *xs, 10 ** across["range"][1]], [y_range[0], *ys, ys[-1]], False)]
    return ScatterPanel(
        spots,
        y_range,
        across=across,
        title=title,
        subtitle=f"n {len(results)}",
        levels=level_lines(spots, view),
        steps=steps,
    )
