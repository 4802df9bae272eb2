"""Declaration of charts: a decorator on the function that draws one. Pickers, addresses and downloads follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from leaderboard.charts.base import Chart, ChartQuery, not_shown, rounded
from leaderboard.charts.estimates import Entry

Draw = Callable[[Sequence[Entry], ChartQuery], Chart]


class Kind(NamedTuple):
    """A figure that can be chosen."""

    title: str
    chart: Draw
    alone: bool = False  # has something to show without a judge chosen
    paper: bool = False  # the paper's figures can be shown in it
    finer: bool = False  # counts by source, tag, length, vote or item: not for labels that are not public
    label_free: bool = False  # needs no label, so every disclosure level shows it
    place: int = 0  # in the list of charts

    def draw(self, entries: Sequence[Entry], view: ChartQuery) -> Chart:
        """Return the figure of the judges chosen; of labels that are not public only what their disclosure allows."""
        if not view.hidden:
            return self.chart(entries, view)
        if view.overall_only and not self.label_free:
            return not_shown(view)
        return not_shown(view) if self.finer else rounded(self.chart(entries, view))


DECLARED: dict[str, Kind] = {}


def chart(
    key: str,
    title: str,
    *,
    place: int,
    alone: bool = False,
    paper: bool = False,
    finer: bool = False,
    label_free: bool = False,
) -> Callable[[Draw], Draw]:
    """Declare a function as a chart; ``key`` is its name in addresses, the options are those of `Kind`.

    Raises:
        ValueError: another chart has the key or the place.
    """

    def declared(draw: Draw) -> Draw:
        if key in DECLARED or any(place == kind.place for kind in DECLARED.values()):
            raise ValueError(f"There is a chart {key} already, or one in place {place}.")
        DECLARED[key] = Kind(title, draw, alone, paper, finer, label_free, place)
        return draw

    return declared
