"""Declaration of charts: a decorator on the function that draws one. Pickers, addresses and downloads follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypedDict, Unpack

from leaderboard.charts.base import Chart, ChartQuery, not_shown
from leaderboard.charts.estimates import SnapshotEntry
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _

Group = Literal["accuracy", "biases", "field"]
GROUPS: Mapping[Group, str] = {"accuracy": _("Accuracy"), "biases": _("Biases"), "field": _("The field")}
"""What figures are about: how often judges are right, how they err, and all results together without a choice."""

"""What a figure shows of labels: nothing, scores of categories, or counts by source, tag, length, vote or item."""
Draw = Callable[[Sequence[SnapshotEntry], ChartQuery], Chart]


class ChartKind(NamedTuple):
    """A figure that can be chosen."""

    title: str
    chart: Draw
    group: Group = "accuracy"
    alone: bool = False  # has something to show without a judge chosen
    paper: bool = False  # the paper's figures can be shown in it
    needs_labels: bool = True
    place: int = 0  # in the list of charts
    suits: Callable[[SnapshotEntry], bool] | None = None  # which judges it can show; None: all that are scored
    about: Callable[[BenchmarkSpec], object] | None = None  # what of a benchmark it shows; None: what all have

    @property
    def of_judges(self) -> bool:
        """Whether it depends on the choice of judges."""
        return self.group != "field"

    def draw(self, entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
        """Return the figure of the judges chosen; of labels that are not public only what their disclosure allows."""
        return not_shown(view) if view.hidden and self.needs_labels else self.chart(entries, view)


class Options(TypedDict, total=False):
    """What a chart may say of itself, see `ChartKind`."""

    group: Group
    alone: bool
    paper: bool
    needs_labels: bool
    suits: Callable[[SnapshotEntry], bool]
    about: Callable[[BenchmarkSpec], object]


DECLARED: dict[str, ChartKind] = {}


def chart(
    key: str,
    title: str,
    *,
    place: int,
    **options: Unpack[Options],
) -> Callable[[Draw], Draw]:
    """Declare a function as a chart; ``key`` is its name in addresses, the options are those of `ChartKind`.

    Raises:
        ValueError: another chart has the key or the place.
    """

    def declared(draw: Draw) -> Draw:
        if key in DECLARED or any(place == kind.place for kind in DECLARED.values()):
            raise ValueError(f"There is a chart {key} already, or one in place {place}.")
        DECLARED[key] = ChartKind(title, draw, place=place, **options)
        return draw

    return declared
