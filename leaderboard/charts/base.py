"""Base types of charts: query, board context, and the finished chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from benchmark.number_check import in_words
from benchmark.protocols import protocols, scores
from benchmark.spec import BenchmarkSpec
from benchmark.statistics.pairwise import PairwiseArrays
from leaderboard.board.best_of_n import BestOfN
from leaderboard.board.rows import BoardRow
from leaderboard.charts.estimates import Entry, Estimate, Judge, as_csv, judges
from leaderboard.charts.layout import ChartText, Estimates, Json, Page

MOST_JUDGES = 30
HEADER = ("judge", "group", "value, %", "95% low", "95% high", "pairs")
WITH_SOURCE = (*HEADER, "source")
HERE = "scored here"

Cells = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BoardContext:
    """What figures know beside the judges chosen. Nothing here names an item or tells a label."""

    rows: Sequence[BoardRow] = ()  # of the board under the view's rules
    relations: PairwiseArrays | None = None
    difficulty: Mapping[str, Sequence[int]] | None = None  # category -> pairs per band of benchmark.statistics.pairwise
    compared: int = 0  # judges behind `difficulty`
    best_of_n: Sequence[BestOfN] = ()
    as_of: str = ""  # ISO
    reported: Sequence[BoardRow] = ()  # of the rows, those that the reader chose


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """What the reader chose, the page that the figure is for, and the board around it."""

    label_revision: str
    page: Page
    protocol: str = ""
    grouping: str = ""
    paper: bool = False  # whether the paper's own figures are shown as reference points
    hidden: bool = False  # whether the labels are not public, so that nothing finer than a category is shown
    around: BoardContext = BoardContext()
    overall_only: bool = False  # whether not even the categories are

    def __post_init__(self) -> None:
        object.__setattr__(self, "protocol", self.protocol or self.spec.ranking)
        object.__setattr__(self, "grouping", self.grouping or self.spec.official)

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark."""
        return self.page.spec


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure, or None where there is nothing to draw; sentences about it; its numbers as a table."""

    figure: go.Figure | None
    title: str
    notes: tuple[str, ...]
    header: tuple[str, ...] = ()
    rows: tuple[Cells, ...] = ()

    @property
    def csv(self) -> str:
        """The numbers of the figure."""
        return as_csv(self.header, self.rows)


def to_chart(
    drawn: Json, words: ChartText, notes: tuple[str, ...], rows: Sequence[Cells], header: tuple[str, ...] = HEADER
) -> Chart:
    """Return the figure carries its own numbers, so that a page can offer them without asking again."""
    drawn["layout"]["meta"] = {"title": words.title, "csv": as_csv(header, rows)}
    drawn["layout"]["template"] = "none"
    return Chart(go.Figure(drawn), words.title, notes, header, tuple(rows))


def empty_chart(notes: tuple[str, ...], title: str = "No data for this figure") -> Chart:
    """No figure; the notes say why, and what would help."""
    return Chart(None, title, notes)


def rounded(chart: Chart) -> Chart:
    """Return the numbers to take along with one decimal, as for everything about labels that are not public."""
    rows = tuple(tuple(round(cell, 1) if isinstance(cell, float) else cell for cell in row) for row in chart.rows)
    if chart.figure is not None:
        chart.figure.layout.meta = {**chart.figure.layout.meta, "csv": as_csv(chart.header, rows)}
    return replace(chart, rows=rows)


def not_shown(view: ChartQuery) -> Chart:
    """No figure, because of labels that are not public it would show more than the categories."""
    more = (
        f"their {view.spec.pooled}" if view.overall_only else f"their {in_words(len(view.spec.categories))} categories"
    )
    labels = f"Labels {view.label_revision} are not public, and this figure needs more than {more}."
    return empty_chart((labels, "Another label set may show it."), "Not shown for this label set")


def chosen_judges(
    entries: Sequence[Entry], view: ChartQuery, most: int = MOST_JUDGES, *, votes: bool = True
) -> tuple[list[Judge], tuple[str, ...]]:
    """Return the judges to draw, best headline score first, and what is to be said of those left out.

    ``votes``: whether the figure needs them, so that reported results cannot be in it.
    """
    notes: tuple[str, ...] = ()
    result, missing = judges(entries, view.label_revision, view.spec)
    result.sort(key=lambda judge: _headline(judge, view), reverse=True)
    if votes and view.around.reported:
        names = ", ".join(reported_names(view))
        notes += (f"Drawn from votes, so only judges that were scored here can be in it; not drawn: {names}.",)
    if missing:
        notes += (f"Not scored under labels {view.label_revision}: {', '.join(missing)}.",)
    if len(result) > most:
        notes += (f"The best {most} of the {len(result)} judges chosen are drawn.",)
    if result and not protocols(view.spec)[view.protocol].has_interval:
        notes += (f"No intervals under {view.protocol}: it does not count a majority of whole pairs.",)
    return result[:most], notes


def reported_names(view: ChartQuery) -> list[str]:
    """Return the reported results that the reader chose, by name."""
    return list(dict.fromkeys(row.model for row in view.around.reported))


def _headline(judge: Judge, view: ChartQuery) -> float:
    value = scores(judge.tally, view.protocol, view.grouping)[view.spec.headline]
    return -1.0 if value is None else value


def rules(view: ChartQuery, grouped: bool = True) -> str:
    """Return the choices that the numbers depend on, for readers who see the figure away from its page."""
    categories = f", categories {view.grouping}" if grouped and view.grouping != view.spec.official else ""
    return f"Rule {view.protocol}, labels {view.label_revision}{categories}."


def table(
    names: Sequence[str], estimates: Sequence[Estimates], keys: Sequence[str], sources: Sequence[str] = ()
) -> list[Cells]:
    """Return the estimates as rows of HEADER, or of WITH_SOURCE where there are sources."""
    rows: list[Cells] = []
    for index, (name, values) in enumerate(zip(names, estimates, strict=True)):
        own: tuple[Any, ...] = (sources[index],) if sources else ()
        rows += [
            (name, key, value.value, value.low, value.high, value.n or None, *own)
            for key in keys
            if (value := values.get(key)) is not None
        ]
    return rows


def ends(final: Estimate | None, whole: bool) -> tuple[float | None, float | None, int | None]:
    """Interval and pairs of a value that has them."""
    return (final.low, final.high, final.n) if final is not None and whole else (None, None, None)
