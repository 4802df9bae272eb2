"""Charts that can be chosen: their names in addresses, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from leaderboard.charts import bias_charts, board_charts, judge_charts
from leaderboard.charts.base import Chart, ChartQuery, not_shown
from leaderboard.charts.confidence_chart import confidence_chart
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.charts.histograms import difficulty_chart, lengths_chart
from leaderboard.charts.tag_chart import tag_chart
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.statistics.self_preference import FAMILIES

Group = Literal["accuracy", "biases", "field"]
GROUPS: Mapping[Group, str] = {"accuracy": _("Accuracy"), "biases": _("Biases"), "field": _("The field")}
"""What figures are about: how often judges are right, how they err, and all results together without a choice."""


class ChartKind(NamedTuple):
    """A figure that can be chosen."""

    title: str
    chart: Callable[[Sequence[SnapshotEntry], ChartQuery], Chart]
    group: Group = "accuracy"
    needs_labels: bool = True
    suits: Callable[[SnapshotEntry], bool] | None = None  # which judges it can show; None: all that are scored
    about: Callable[[BenchmarkSpec], object] | None = None  # what of a benchmark it shows; None: what all have

    @property
    def of_judges(self) -> bool:
        """Whether it depends on the choice of judges."""
        return self.group != "field"

    def draw(self, entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
        """Return the figure of the judges chosen; of labels that are not public only what their disclosure allows."""
        return not_shown(view) if view.hidden and self.needs_labels else self.chart(entries, view)


def _knows(part: str) -> Callable[[SnapshotEntry], bool]:
    """Return a test of whether a part of a judge's behaviour is known, under any labels."""
    return lambda entry: any(
        (tally.get("behaviour") or {}).get(part) for tally in (entry.get("tallies") or {}).values()
    )


CHARTS: Mapping[str, ChartKind] = {
    "categories": ChartKind(_("Categories"), judge_charts.category_chart),
    "tags": ChartKind(_("Error tags"), tag_chart, about=lambda spec: spec.tags),
    "sources": ChartKind(_("Sources"), judge_charts.source_chart, about=lambda spec: spec.shown_sources),
    "votes": ChartKind(_("Votes"), judge_charts.vote_chart, suits=lambda entry: entry["votes_per_item"] > 1),
    "confidence": ChartKind(_("Confidence"), confidence_chart, suits=_knows("calibration")),
    "position": ChartKind(_("Position"), bias_charts.position_chart, group="biases", suits=_knows("position_bias")),
    "length": ChartKind(_("Length"), bias_charts.length_chart, group="biases"),
    "family": ChartKind(
        _("Own family"),
        bias_charts.self_preference_chart,
        group="biases",
        about=lambda spec: spec.read(FAMILIES) is not None,
    ),
    "agreement": ChartKind(_("Agreement"), judge_charts.agreement_chart, group="biases", needs_labels=False),
    "history": ChartKind(_("History"), board_charts.history_chart, group="field"),
    "size": ChartKind(_("Size"), board_charts.size_chart, group="field"),
    "cost": ChartKind(_("Cost"), board_charts.cost_chart, group="field"),
    "difficulty": ChartKind(_("Difficulty"), difficulty_chart, group="field"),
    "critics": ChartKind(
        _("Critics"), judge_charts.critic_chart, group="field", needs_labels=False, about=judge_charts.paper_figures
    ),
    "lengths": ChartKind(_("Length of responses"), lengths_chart, group="field"),
}


@cache
def charts_of(spec: BenchmarkSpec) -> Mapping[str, ChartKind]:
    """Return the charts that a benchmark can have."""
    return {key: kind for key, kind in CHARTS.items() if kind.about is None or kind.about(spec)}
