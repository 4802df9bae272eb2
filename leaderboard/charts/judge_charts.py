"""Charts of chosen judges, one function per figure. Pure: the same entries and the same query give the same figure.

Those about the board around them are in `board_charts`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from leaderboard.charts.base import (
    HEADER,
    HERE,
    MOST_LINES,
    NO_BOUNDS,
    WITH_SOURCE,
    Cells,
    Chart,
    ChartQuery,
    chosen_judges,
    empty_chart,
    headline_name,
    rules,
    table,
)
from leaderboard.charts.board_charts import heights
from leaderboard.charts.dot_plots import ChartLine, dots, heat_map
from leaderboard.charts.estimates import (
    Estimate,
    Judge,
    SnapshotEntry,
    category_estimates,
    cell_estimates,
    drawn_scores,
    in_percent,
    vote_curve,
)
from leaderboard.charts.layout import FEW_PAIRS, ChartText, hover_text, isolated
from leaderboard.charts.scatter_plots import CELLS_WITH_NUMBERS, Point2D, curve_panel, matrix, planes
from leaderboard.ranking.anonymity import is_anonymous
from leaderboard.ranking.rows import BoardRow
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal
from vlrb.statistics.pairwise import AGREEMENT_AT_MOST


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
    return Chart(drawn, words, notes=notes, rows=rows, header=WITH_SOURCE if reported else HEADER)


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
    sources = view.spec.source_keys
    lines = [ChartLine(judge.name, cell_estimates(judge, sources, protocol=view.protocol)) for judge in chosen]
    words = ChartText(
        _("Agreement by source"),
        _("Share of pairs judged as people did, %. {rules}", rules=rules(view)),
        axis=_("Grey: better than chance; red: worse. Faded and slanted: fewer than {few} pairs.", few=FEW_PAIRS),
    )
    notes += (_("Sources with few pairs say little: see their intervals in the numbers below."),)
    drawn = heat_map(lines, grouping=view.grouping, page=view.page, words=words)
    return Chart(drawn, words, notes=notes, rows=table(lines, keys=sources))


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
    title, known = headline_name(view.spec, first=True), [vote_curve(judge) for judge in chosen]
    finals = [final for _points, final in known]
    pairs = max((final.n for final in finals if final is not None), default=0)
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
    curves = [_vote_points(judge, *curve, view=view) for judge, curve in zip(chosen, known, strict=True)]
    rows: list[Cells] = [
        (spot.name, _votes(spot.x), spot.y, *(spot.y_ends or NO_BOUNDS), final.n if final and spot.y_ends else None)
        for curve, final in zip(curves, finals, strict=True)
        for spot in curve
    ]
    spots = [spot for curve in curves for spot in curve]
    across = {"range": [0.7, 1.2 * max(spot.x for spot in spots)], "dtick": 2, "tick0": 1}
    reach, levels = heights(spots, view)
    plane = curve_panel(curves, reach, across=across, under=_("Votes per pair"), levels=levels[:1])
    return Chart(planes([plane], view.page, words=words), words, notes=notes, rows=rows)


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
    return Chart(drawn, words, notes=notes, rows=cells, header=header)


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """What a paper prints of its base model and of the critics trained from it, in percent; `paper_figures.json` of the
    definition holds them. Never mixed with scored entries."""

    source: str
    critics: Mapping[str, Mapping[str, float]]  # name -> score -> percent; the base model first
    notes: Sequence[str]


@cache
def paper_figures(spec: BenchmarkSpec) -> PaperFigures | None:
    """Return the figures of a benchmark's paper; None where it has none."""
    content = spec.read("paper_figures.json")
    return None if content is None else PaperFigures(**json.loads(content))


def critic_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the base model of the paper and its critics, by headline score and category, whoever is chosen."""
    printed, key = paper_figures(view.spec), view.spec.headline
    if printed is None:
        return empty_chart(())
    base, *trained = (values[key] for values in printed.critics.values())
    words = ChartText(
        _(
            "Trained as a critic, the paper’s base model gains up to {points} points of {score}",
            points=one_decimal(max(trained) - base),
            score=headline_name(view.spec),
        ),
        _("Share of pairs judged as people did, as printed: {source}.", source=_(printed.source)),
        axis=_("Agreement, % (right is better)"),
    )
    lines = [
        ChartLine(
            view.page.text(_(name)),
            {score: Estimate(value, 0) for score, value in values.items()},
            hollow=True,
            source=_(printed.source),
        )
        for name, values in printed.critics.items()
    ]
    keys = drawn_scores(view.spec)
    drawn = dots(lines, keys=keys, page=view.page, words=words)
    rows = table(lines, keys=keys, sources=True)
    return Chart(drawn, words, notes=tuple(map(_, printed.notes)), rows=rows, header=WITH_SOURCE)
