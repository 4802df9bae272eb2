"""Chart of calibration: whether judges are right where they are sure, and how often when they answer less. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from leaderboard.charts.base import Cells, Chart, ChartQuery, chosen_judges, empty_chart
from leaderboard.charts.dot_plots import reach_of
from leaderboard.charts.estimates import Judge, SnapshotEntry
from leaderboard.charts.layout import ChartText, isolated, plain
from leaderboard.charts.scatter_plots import Point2D, ScatterPanel, curve_panel, planes
from vlrb.common.messages import _, joined
from vlrb.common.rounding import one_decimal
from vlrb.protocols import category_counts

MOST_CURVES = 8
HEADER = (_("judge"), _("group"), _("coverage or confidence, %"), _("right, %"), _("pairs"))


class _Place(NamedTuple):
    """A point of a curve, in percent."""

    x: float
    right: float
    pairs: int


def confidence_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return accuracy by confidence, and accuracy on the most confident part of the pairs.

    A judge without confidence is one point there: how much it answers, and how often that is right.
    """
    chosen, notes = chosen_judges(entries, view, most=MOST_CURVES)
    risks = [(judge, _risk(judge)) for judge in chosen]
    risks = [(judge, places) for judge, places in risks if places]
    if not risks:
        return empty_chart(notes)
    reliable = [(judge, _reliability(judge)) for judge in chosen if judge.behaviour.calibration]
    if silent := [judge.name for judge in chosen if judge.behaviour.calibration is None]:
        text = _("One vote per pair and no scores, so one point: {names}.", names=joined(map(isolated, silent)))
        notes += (text,)
    if len({judge.tally.k for judge, _places in reliable}) > 1:
        notes += (_("Confidence is a share of votes: compare it among judges with as many votes per pair."),)
    words = ChartText(
        _("Are judges right where they are sure?"),
        _(
            "Confidence: the share of a judge's votes for its majority, or the difference of its scores, scaled. "
            "Labels {revision}, pairs without a verdict left out.",
            revision=view.label_revision,
        ),
        axis=_("Up: verdicts that agree with people, % (up is better; on the dotted line, as sure as right)"),
    )
    panels = [
        _panel(risks, view, title=_("The less it answers, the surer it is"), under=_("Surest part of all pairs, %"))
    ]
    if reliable:
        sure = _panel(reliable, view, title=_("As right as it is sure"), under=_("Confidence, %"))
        panels.insert(0, replace(sure, steps=[([50, 100], [50, 100], True), *sure.steps]))
    rows: list[Cells] = [
        (judge.name, group, place.x, place.right, place.pairs)
        for group, lines in ((_("confidence"), reliable), (_("coverage"), risks))
        for judge, places in lines
        for place in places
    ]
    return Chart(planes(panels, view.page, words=words), words, notes=notes, rows=rows, header=HEADER)


def _reliability(judge: Judge) -> list[_Place]:
    sure = judge.behaviour.calibration
    return [_Place(100 * confidence, 100 * right, pairs) for confidence, right, pairs in sure.bins] if sure else []


def _risk(judge: Judge) -> list[_Place]:
    """Return accuracy at some coverages, and on all that a judge decides; nothing of one that decides nothing."""
    _n, right, wrong, undecided = category_counts(judge.tally.counts, judge.tally.spec).sum(axis=0)[:4].tolist()
    pairs, asked = right + wrong, right + wrong + undecided
    if not pairs:
        return []
    sure = judge.behaviour.calibration
    known = {int(part): share for part, share in sure.at.items() if share is not None} if sure else {}
    places = [_Place(part, 100 * share, round(part * asked / 100)) for part, share in sorted(known.items())]
    return [*places, _Place(100 * pairs / asked, 100 * right / pairs, pairs)]


def _words(place: _Place) -> str:
    return _("{x}%: {right}% right, n {n}", x=one_decimal(place.x), right=one_decimal(place.right), n=place.pairs)


def _panel(curves: Sequence[tuple[Judge, list[_Place]]], view: ChartQuery, *, title: str, under: str) -> ScatterPanel:
    points = [
        [
            Point2D(judge.name, place.x, place.right, hover=f"{plain(judge.name, 60)}: {view.page.text(_words(place))}")
            for place in places
        ]
        for judge, places in sorted(curves, key=lambda curve: -curve[1][-1].right)
    ]
    every = [point for curve in points for point in curve]
    across = {"range": [min(50, *(point.x for point in every)) - 4, 104]}
    return curve_panel(points, reach_of([point.y for point in every]), across=across, title=title, under=under)
