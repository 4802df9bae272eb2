"""Charts of chosen judges. Pure: the same entries and the same query give the same figure.

What is shown is decided in `estimates` and `bias`, its layout in `dot_plots` and `layout`; here they meet, one
function per figure: those about the judges chosen. Those about the board around them are in `board_charts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    ends,
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
    Point,
    SnapshotEntry,
    category_estimates,
    drawn_scores,
    source_estimates,
    vote_curve,
)
from leaderboard.charts.layout import FEW_PAIRS, ChartText, hover_text
from leaderboard.charts.paper_reference import paper_figures
from leaderboard.charts.scatter_plots import Point2D, ScatterPanel, planes
from leaderboard.render import TYPE_NAMES
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal


def category_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return agreement with people: the headline score and the categories, for each judge chosen."""
    drawn, notes = _scored_and_reported(entries, view)
    if not drawn:
        return empty_chart(notes)
    subtitle = _("Share of pairs judged as people did, with 95% intervals. {rules}", rules=rules(view))
    if view.around.reported:
        subtitle = joined((subtitle, _("Hollow: reported, by its source's own rule.")), " ")
    words = ChartText(_("Agreement by category"), subtitle, axis=_("Agreement, % (right is better)"))
    return _dots(drawn, drawn_scores(view.spec), view=view, words=words, notes=notes)


def _scored_and_reported(entries: Sequence[SnapshotEntry], view: ChartQuery) -> tuple[list[ChartLine], tuple[str, ...]]:
    """Return what the reader chose, best headline score first, and what is to be said of it."""
    chosen, notes = chosen_judges(entries, view, votes=False)
    estimates = [category_estimates(judge, view.protocol, grouping=view.grouping) for judge in chosen]
    drawn = [
        ChartLine(judge.name, estimate, source=HERE, kind=judge.type, link=f"entries/{judge.id}")
        for judge, estimate in zip(chosen, estimates, strict=True)
    ]
    drawn += [_reported(row, view.spec) for row in view.around.reported]
    headline = view.spec.headline
    drawn.sort(
        key=lambda line: estimate.value if (estimate := line.estimates.get(headline)) is not None else -1, reverse=True
    )
    if remarks := [joined((row.model, row.note), " ") for row in view.around.reported if row.note]:
        notes += (_("Of the reported results: {remarks}.", remarks=joined(remarks, _("; "))),)
    return drawn, notes


def _reported(row: BoardRow, spec: BenchmarkSpec) -> ChartLine:
    """Return a reported result as published; its intervals are those of the sizes that its figures fit."""
    estimates: dict[str, Estimate | None] = {}
    for key in drawn_scores(spec):
        value, bounds = row.value(key), row.interval.get(key)
        low, high = (100 * bounds[0], 100 * bounds[1]) if bounds else (None, None)
        estimates[key] = None if value is None else Estimate(100 * value, low, high=high, n=0)
    line = ChartLine(row.model, estimates, small=_("reported"), hollow=True, source=row.source, kind=row.judge_type)
    return replace(line, link=f"entries/{row.id}")


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
    drawn = [vote_curve(judge) for judge in chosen]
    words = ChartText(
        _("{score} by number of votes", score=headline_name(view.spec, first=True)),
        _(
            "Expected when only k of a judge's K votes are drawn; at the end the score itself with its 95% interval. "
            "Rule {rule}, labels {revision}.",
            rule=view.spec.ranking,
            revision=view.label_revision,
        ),
        axis=_(
            "{score}, % (up is better), n {pairs} pairs",
            score=headline_name(view.spec, first=True),
            pairs=_pairs(drawn),
        ),
    )
    if any(judge.tally.k % 2 == 0 for judge in chosen):
        notes += (_("An even number of votes counts what one vote less counts on average: odd numbers are drawn."),)
    rows: list[Cells] = [
        (judge.name, _votes(point.k), point.value, *ends(final, point is points[-1]))
        for judge, (points, final) in zip(chosen, drawn, strict=True)
        for point in points
    ]
    spots = [spot for at, judge in enumerate(chosen) for spot in _vote_points(judge, *drawn[at], rank=at, view=view)]
    most, reach = max(spot.x for spot in spots), score_range(spots, view)
    plane = ScatterPanel(
        spots,
        reach,
        across={"range": [0.7, 1.2 * most], "dtick": 2, "tick0": 1},
        under=_("Votes per pair"),
        levels=level_lines(spots, view)[:1],
        steps=[([point.k for point in points], [point.value for point in points], False) for points, _final in drawn],
        straight=True,
    )
    return to_chart(planes([plane], view.page, words=words), words, notes=notes, rows=rows)


def _vote_points(
    judge: Judge, points: Sequence[Point], final: Estimate | None, *, rank: int, view: ChartQuery
) -> list[Point2D]:
    """Return the points of a curve; the last one has the name of the judge and the interval of its score."""
    bounds = None if final is None or final.low is None or final.high is None else (final.low, final.high)
    return [
        Point2D(
            judge.name,
            point.k,
            point.value,
            hover=hover_text(judge.name, f"{view.page.text(_votes(point.k))}: {one_decimal(point.value)}"),
            y_ends=bounds if point is points[-1] else None,
            rank=rank if point is points[-1] else None,
        )
        for point in points
    ]


def _votes(k: int) -> str:
    return _("{k} votes", k=k)


def critic_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the paper's base model, pointwise and pairwise critic, and the judges chosen by what kind they are."""
    chosen, notes = _scored_and_reported(entries, view)
    order = {kind: at for at, kind in enumerate(TYPE_NAMES)}
    chosen.sort(key=lambda entry: order.get(entry.kind, len(order)))
    printed = paper_figures(view.spec)
    lines = [
        ChartLine(
            view.page.text(_(name)),
            {key: Estimate(value, None, high=None, n=0) for key, value in values.items()},
            small=_("paper"),
            hollow=True,
            source=_(printed.source),
        )
        for name, values in printed.critics.items()
    ]
    lines += [replace(line, small=_(TYPE_NAMES.get(line.kind, line.kind))) if line.kind else line for line in chosen]
    words = ChartText(
        _critics_finding(view),
        _(
            "Share of pairs judged as people did, with 95% intervals; filled: scored here; hollow: reported, and the "
            "paper's figure of critic training. {rules}",
            rules=rules(view),
        ),
        axis=_("Agreement, % (right is better)"),
    )
    notes += (
        *(_(note) for note in printed.notes),
        _("Submitters state the kind of their judge. Judges of one kind may differ in everything else."),
    )
    return _dots(lines, drawn_scores(view.spec), view=view, words=words, notes=notes)


def _critics_finding(view: ChartQuery) -> str:
    """Return what training as a critic adds to the paper's base model, or else what is drawn."""
    key = view.spec.headline
    base, *critics = (values[key] for values in (paper_figures(view.spec).critics or {"": {key: 0.0}}).values())
    if not critics:
        return _("Judges by kind")
    return _(
        "Trained as a critic, the paper’s base model gains up to {points} points of {score}",
        points=one_decimal(max(critics) - base),
        score=headline_name(view.spec),
    )


def _dots(
    lines: Sequence[ChartLine],
    keys: Sequence[str],
    *,
    view: ChartQuery,
    words: ChartText,
    notes: tuple[str, ...],
) -> Chart:
    drawn = dots(lines, keys=keys, page=view.page, words=words)
    by_others = any(line.hollow for line in lines)
    rows = table(lines, keys=keys, sources=by_others)
    return to_chart(drawn, words, notes=notes, rows=rows, header=WITH_SOURCE if by_others else HEADER)


def _pairs(drawn: Sequence[tuple[Sequence[Point], Estimate | None]]) -> str:
    return f"{max((final.n for _, final in drawn if final is not None), default=0):,}"
