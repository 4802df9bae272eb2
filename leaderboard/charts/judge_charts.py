"""Charts of chosen judges. Pure: the same entries and the same query give the same figure.

What is shown is decided in `estimates` and `bias`, its layout in `dot_plots` and `layout`; here they meet, one
function per figure: those about the judges chosen. Those about the board around them are in `board_charts`.
"""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.board.rows import BoardRow
from leaderboard.charts.base import (
    HEADER,
    HERE,
    MOST_LINES,
    WITH_SOURCE,
    Cells,
    Chart,
    ChartQuery,
    chosen_judges,
    empty_chart,
    headline_name,
    rules,
    table,
    to_chart,
)
from leaderboard.charts.board_charts import level_lines, score_range
from leaderboard.charts.dot_plots import ChartLine, dots, heat_map
from leaderboard.charts.estimates import (
    Estimate,
    Judge,
    SnapshotEntry,
    category_estimates,
    drawn_scores,
    in_percent,
    source_estimates,
    vote_curve,
)
from leaderboard.charts.layout import FEW_PAIRS, ChartText, hover_text
from leaderboard.charts.scatter_plots import Point2D, curve_panel, planes
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal

_NOTHING = (None, None, None)  # where an interval and a number of pairs would stand


def category_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return agreement with people: the headline score and the categories, for each judge chosen, best first."""
    chosen, notes = chosen_judges(entries, view, votes=False)
    reported, keys = view.reported, drawn_scores(view.spec)
    estimates = [category_estimates(judge, view.protocol, grouping=view.grouping) for judge in chosen]
    lines = [
        ChartLine(judge.name, estimate, source=HERE, link=f"entries/{judge.id}")
        for judge, estimate in zip(chosen, estimates, strict=True)
    ]
    lines += [_reported(row, keys) for row in reported]
    if not lines:
        return empty_chart(notes)
    lines.sort(key=lambda line: -1 if (one := line.estimates[view.spec.headline]) is None else one.value, reverse=True)
    subtitle = _("Share of pairs judged as people did, with 95% intervals. {rules}", rules=rules(view))
    if reported:
        subtitle = joined((subtitle, _("Hollow: reported, by its source's own rule.")), " ")
    if remarks := [joined((row.model, row.note), " ") for row in reported if row.note]:
        notes += (_("Of the reported results: {remarks}.", remarks=joined(remarks, _("; "))),)
    words = ChartText(_("Agreement by category"), subtitle, axis=_("Agreement, % (right is better)"))
    drawn = dots(lines, keys=keys, page=view.page, words=words)
    rows = table(lines, keys=keys, sources=bool(reported))
    return to_chart(drawn, words, notes=notes, rows=rows, header=WITH_SOURCE if reported else HEADER)


def _reported(row: BoardRow, keys: Sequence[str]) -> ChartLine:
    """Return a reported result as published; its intervals are those of the sizes that its figures fit."""
    estimates: dict[str, Estimate | None] = {
        key: None if (value := row.value(key)) is None else Estimate(100 * value, 0, in_percent(row.interval.get(key)))
        for key in keys
    }
    small, link = _("reported"), f"entries/{row.id}"
    return ChartLine(row.model, estimates, small=small, hollow=True, source=row.source, link=link)


def source_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Heat map of agreement by judge and source, in shades that part at chance: colours are for categories."""
    chosen, notes = chosen_judges(entries, view)
    if not chosen:
        return empty_chart(notes)
    lines = [ChartLine(judge.name, source_estimates(judge, view.protocol)) for judge in chosen]
    words = ChartText(
        _("Agreement by source"),
        _("Share of pairs judged as people did, %. {rules}", rules=rules(view)),
        axis=_("Grey: better than chance; red: worse. Faded and slanted: fewer than {few} pairs.", few=FEW_PAIRS),
    )
    notes += (_("Sources with few pairs say little: see their intervals in the numbers below."),)
    drawn = heat_map(lines, grouping=view.grouping, page=view.page, words=words)
    return to_chart(drawn, words, notes=notes, rows=table(lines, keys=view.spec.source_keys))


def vote_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Macro average expected from 1 to K votes, for each judge with more than one vote per pair."""
    chosen, notes = chosen_judges(
        entries,
        view,
        most=MOST_LINES,
        suits=lambda judge: judge.tally.k > 1,
        otherwise=_("One vote per pair, so no curve: {names}."),
    )
    if not chosen:
        return empty_chart(notes)
    if (view.protocol, view.grouping) != (view.spec.ranking, view.spec.official):
        text = _("This figure always follows the rule {rule} and the official categories.", rule=view.spec.ranking)
        notes += (text,)
    if any(judge.tally.k % 2 == 0 for judge in chosen):
        notes += (_("An even number of votes counts what one vote less counts on average: odd numbers are drawn."),)
    title, curves = headline_name(view.spec, first=True), [vote_curve(judge) for judge in chosen]
    rows: list[Cells] = [
        (
            judge.name,
            _votes(k),
            value,
            *((*(final.bounds or (None, None)), final.n) if final and k == points[-1][0] else _NOTHING),
        )
        for judge, (points, final) in zip(chosen, curves, strict=True)
        for k, value in points
    ]
    pairs = max((final.n for _points, final in curves if final is not None), default=0)
    words = ChartText(
        _("{score} by number of votes", score=title),
        _(
            "Expected when only k of a judge's K votes are drawn; at the end the score itself with its 95% interval. "
            "Rule {rule}, labels {revision}.",
            rule=view.spec.ranking,
            revision=view.label_revision,
        ),
        axis=_("{score}, % (up is better), n {pairs} pairs", score=title, pairs=f"{pairs:,}"),
    )
    drawn = [_vote_points(judge, *curve, view=view) for judge, curve in zip(chosen, curves, strict=True)]
    spots = [spot for points in drawn for spot in points]
    across = {"range": [0.7, 1.2 * max(spot.x for spot in spots)], "dtick": 2, "tick0": 1}
    levels = level_lines(spots, view)[:1]
    plane = curve_panel(drawn, score_range(spots, view), across=across, under=_("Votes per pair"), levels=levels)
    return to_chart(planes([plane], view.page, words=words), words, notes=notes, rows=rows)


def _vote_points(
    judge: Judge, points: Sequence[tuple[int, float]], final: Estimate | None, *, view: ChartQuery
) -> list[Point2D]:
    """Return the points of a curve; the last one has the interval of the score."""
    return [
        Point2D(
            judge.name,
            k,
            value,
            hover=hover_text(judge.name, f"{view.page.text(_votes(k))}: {one_decimal(value)}"),
            y_ends=final.bounds if final and k == points[-1][0] else None,
        )
        for k, value in points
    ]


def _votes(k: int) -> str:
    return _("{k} votes", k=k)
