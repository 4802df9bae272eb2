"""Base types of charts: query, board context, and the finished chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from common.csv_text import csv_table
from leaderboard.charts.dot_plots import ChartLine
from leaderboard.charts.estimates import Judge, SnapshotEntry, judges
from leaderboard.charts.layout import ChartText, Page, isolated
from leaderboard.ranking.rows import BoardRow
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.common.messages import Message, _, joined
from vlrb.protocols import has_interval, scores
from vlrb.statistics.pairwise import PairwiseArrays

MOST_JUDGES = 30
MOST_LINES = 6  # of judges on common axes; more have no colour, and no room for their names
HEADER = (_("judge"), _("group"), _("value, %"), _("95% low"), _("95% high"), _("pairs"))
WITH_SOURCE = (*HEADER, _("source"))
HERE = _("scored here")
NO_BOUNDS = (None, None)  # where an interval would stand

Cells = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """What the reader chose, the page that the figure is for, and the board around the judges chosen.

    Nothing here names an item or tells a label.
    """

    label_revision: str
    page: Page
    protocol: str = ""
    grouping: str = ""
    hidden: bool = False  # whether the labels are not public, so that only what needs none is drawn
    rows: Sequence[BoardRow] = ()  # of the board under the view's rules
    reported: Sequence[BoardRow] = ()  # of the rows, those that the reader chose
    relations: PairwiseArrays | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the relations in a snapshot
    as_of: str = ""  # ISO

    def __post_init__(self) -> None:
        object.__setattr__(self, "protocol", self.protocol or self.spec.ranking)
        object.__setattr__(self, "grouping", self.grouping or self.spec.official)

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark."""
        return self.page.spec


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of Plotly, or None where there is nothing to draw; sentences about it; its numbers as a table.

    The title is a finding where there is one; the subtitle says what is drawn.
    """

    figure: go.Figure | None
    words: ChartText
    notes: tuple[str, ...]
    rows: Sequence[Cells] = ()
    header: tuple[str, ...] = HEADER

    @property
    def csv(self) -> str:
        """The numbers of the figure, with a mark that spreadsheets know UTF-8 by."""
        rows = ([round(cell, 3) if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return "\ufeff" + csv_table(self.header, rows).decode()


def empty_chart(notes: tuple[str, ...], title: str = _("No data for this figure")) -> Chart:
    """No figure; the notes say why, and what would help."""
    return Chart(None, ChartText(title, "", axis=""), notes=notes, header=())


def not_shown(view: ChartQuery) -> Chart:
    """No figure, because of labels that are not public it would show more than their scores."""
    labels = _(
        "Labels {revision} are not public, and this figure needs more than their scores.", revision=view.label_revision
    )
    return empty_chart((labels, _("Another label set may show it.")), _("Not shown for this label set"))


def chosen_judges(
    entries: Sequence[SnapshotEntry],
    view: ChartQuery,
    *,
    most: int = MOST_JUDGES,
    votes: bool = True,
    suits: Callable[[Judge], object] = bool,
    otherwise: str = "",
) -> tuple[list[Judge], tuple[str, ...]]:
    """Return the judges to draw, best headline score first, and what is to be said of those left out.

    ``votes``: whether the figure needs them, so that reported results cannot be in it. ``otherwise``: what is said of
    the `names` of judges that do not suit it.
    """
    notes: tuple[str, ...] = ()
    result, missing = judges(entries, view.label_revision, spec=view.spec)
    result.sort(key=lambda judge: _headline(judge, view), reverse=True)
    if votes and view.reported:
        text = _(
            "This figure needs individual votes, so it shows judges scored here only. Left out: {names}.",
            names=joined(map(isolated, dict.fromkeys(row.model for row in view.reported))),
        )
        notes += (text,)
    if missing:
        text = _(
            "Not scored under labels {revision}: {names}.",
            revision=view.label_revision,
            names=joined(map(isolated, missing)),
        )
        notes += (text,)
    if unsuited := [judge.name for judge in result if not suits(judge)]:
        notes += (_(otherwise, names=joined(map(isolated, unsuited))),)
        result = [judge for judge in result if suits(judge)]
    if len(result) > most:
        notes += (_("The best {most} of the {n} judges chosen are drawn.", most=most, n=len(result)),)
    if result and not has_interval(view.protocol, view.spec):
        text = _("No intervals under {rule}: it does not count a majority of whole pairs.", rule=view.protocol)
        notes += (text,)
    return result[:most], notes


def _headline(judge: Judge, view: ChartQuery) -> float:
    value = scores(judge.under(view.protocol), view.protocol, grouping=view.grouping)[view.spec.headline]
    return -1.0 if value is None else value


def rules(view: ChartQuery, grouped: bool = True) -> str:
    """Return the choices that the numbers depend on, for readers who see the figure away from its page."""
    values = {"rule": view.protocol, "revision": view.label_revision}
    if grouped and view.grouping != view.spec.official:
        return _("Rule {rule}, labels {revision}, categories {grouping}.", grouping=view.grouping, **values)
    return _("Rule {rule}, labels {revision}.", **values)


def headline_name(spec: BenchmarkSpec, *, first: bool = False) -> Message:
    """Return how sentences call the headline; ``first``: at the beginning of one."""
    return Message(capital(spec.headline_text) if first else spec.headline_text, {})


def table(lines: Sequence[ChartLine], *, keys: Sequence[str], sources: bool = False) -> list[Cells]:
    """Return the estimates as rows of HEADER, or of WITH_SOURCE with ``sources``."""
    return [
        (
            line.name,
            key,
            value.value,
            *(value.bounds or NO_BOUNDS),
            value.n or None,
            *([line.source] if sources else []),
        )
        for line in lines
        for key in keys
        if (value := line.estimates.get(key)) is not None
    ]
