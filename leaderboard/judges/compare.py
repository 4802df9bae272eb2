"""Comparison of two judges on every benchmark that has both. Pure.

Two entries scored here are compared under the same rule, pair by pair where that is possible. Two figures that one
source reports of the same overall have a difference without an interval. Nothing else has a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.board.names import listed
from leaderboard.board.rows import Board, BoardRow
from leaderboard.cache import BoardVersion
from leaderboard.judges.table import JudgeLine, JudgeResult, OverallFigure, variant_of
from leaderboard.pages.compare import ScoreDifference, adjust, compare, p_text, points
from vlrb.common.messages import _, joined
from vlrb.protocols import protocols
from vlrb.statistics.pairwise import PairwiseArrays

MOST_OFFERED = 40  # on a page, below the field that finds the others


@dataclass(frozen=True, slots=True)
class BenchmarkComparison:
    """Two judges on one benchmark. ``difference``: the first minus the second; None where nothing can be compared.

    ``how``: which figures are compared under which rule, or why none are.
    """

    board: Board
    first: JudgeResult | None
    second: JudgeResult | None
    figures: tuple[OverallFigure | None, OverallFigure | None]
    difference: ScoreDifference | None
    how: str
    reported: bool = False
    rows: tuple[BoardRow | None, BoardRow | None] = (None, None)  # the results that have the figures

    @property
    def variants(self) -> tuple[str, str]:
        """How each result was made, where that is not one plain answer for each pair; why it leads nothing."""
        first, second = ("" if row is None else variant_of(row) for row in self.rows)
        return first, second

    @property
    def tested(self) -> bool:
        """Whether both were scored here, so that the difference has an interval."""
        return self.difference is not None and not self.reported

    @property
    def left_out(self) -> bool:
        """Whether both were scored here, and are not compared because the votes of one need no judge."""
        rows = [row for row in self.rows if row is not None and row.tier == "scored"]
        return len(rows) == 2 and not all(row.leads for row in rows)


def compare_judges(
    lines: tuple[JudgeLine, JudgeLine],
    board_versions: Sequence[BoardVersion],
    *,
    relations: Mapping[str, PairwiseArrays | None],
) -> tuple[BenchmarkComparison, ...]:
    """Return the comparison on each benchmark; p values are adjusted by Holm for the number of benchmarks."""
    comparisons = [
        _on_benchmark(board_version, cells, relations=relations.get(board_version.benchmark))
        for board_version, *cells in zip(board_versions, lines[0].cells, lines[1].cells, strict=True)
    ]
    tested = [
        comparison.difference for comparison in comparisons if comparison.tested and comparison.difference is not None
    ]
    adjusted = iter(adjust(tested))
    return tuple(
        replace(comparison, difference=next(adjusted)) if comparison.tested else comparison
        for comparison in comparisons
    )


def _on_benchmark(
    board_version: BoardVersion, cells: Sequence[JudgeResult | None], *, relations: PairwiseArrays | None
) -> BenchmarkComparison:
    board = board_version.board()
    first, second = cells
    leading = tuple(None if cell is None else cell.leading for cell in cells)
    leading_rows = (leading[0], leading[1])
    rows = (first.leading_row if first else None, second.leading_row if second else None)
    if first is None or second is None or None in leading:
        return BenchmarkComparison(
            board, first, second=second, figures=leading_rows, difference=None, how="", rows=rows
        )
    if first.figures and second.figures:
        return _scored(board_version, (first, second), relations=relations)
    return _of_one_source(board, first, second=second) or BenchmarkComparison(
        board,
        first,
        second=second,
        figures=leading_rows,
        difference=None,
        how=_not_comparable(first, second),
        rows=rows,
    )


def _scored(
    board_version: BoardVersion, cells: tuple[JudgeResult, JudgeResult], *, relations: PairwiseArrays | None
) -> BenchmarkComparison:
    board = board_version.board()
    rows = [cell.scored for cell in cells if cell.scored is not None]
    (pair,) = compare(board_version, [row.id for row in rows], relations=relations).pairs
    difference = pair.of(board.headline)
    if difference is not None and pair.first.id != rows[0].id:
        difference = turned(difference)
    rule = protocols(board.spec)[board.protocol].title
    how: str = joined((_(rule), _("pair by pair") if pair.paired else _("by their intervals")), _("; "))
    if not pair.differences:  # the votes of one need no judge
        how = pair.reason
    figures = (cells[0].figures[0], cells[1].figures[0])
    return BenchmarkComparison(board, *cells, figures, difference, how, rows=(rows[0], rows[1]))


def turned(difference: ScoreDifference) -> ScoreDifference:
    """Return the difference the other way round."""
    low, high = (None if end is None else -end for end in (difference.high, difference.low))
    return replace(
        difference,
        delta=-difference.delta,
        low=low,
        high=high,
        only_first=difference.only_second,
        only_second=difference.only_first,
    )


def _of_one_source(board: Board, first: JudgeResult, *, second: JudgeResult) -> BenchmarkComparison | None:
    """Return the difference of two figures of one overall that one source reports; None where there are none."""
    for row, figures in first.reports:
        for other, others in second.reports:
            same = [
                (figure, other_figure)
                for figure in figures
                for other_figure in others
                if _is_same_figure(board, figure.key, second=other_figure.key)
            ]
            alike = (row.oracle, row.votes_per_item) == (other.oracle, other.votes_per_item)
            if row.source and row.source == other.source and alike and same:
                figure, other_figure = same[0]
                gap, title = figure.value - other_figure.value, board.spec.title_of(figure.key)
                difference = ScoreDifference(figure.key, gap, title=title)
                how = _("reported by {source}, {kind}; no interval", source=row.source, kind=figure.label)
                result = (figure, other_figure), difference, how
                return BenchmarkComparison(board, first, second, *result, reported=True, rows=(row, other))
    return None


def _is_same_figure(board: Board, first: str, *, second: str) -> bool:
    """Return whether two keys name one figure. Overalls that no source defines may be made in two ways."""
    overall = board.spec.overall(first)
    return first == second and (overall is None or overall.has_definition)


def _not_comparable(first: JudgeResult, second: JudgeResult) -> str:
    if first.figures or second.figures:
        return _("One was scored here, the other is reported: their rules may differ.")
    return _("Reported by different sources: their rules may differ.")


def verdict(lines: tuple[JudgeLine, JudgeLine], comparisons: Sequence[BenchmarkComparison]) -> str:
    """Return what the comparison says, in plain words."""
    a, b = (line.name for line in lines)
    tested = [
        (comparison.board.spec.title, comparison.difference)
        for comparison in comparisons
        if comparison.tested and comparison.difference is not None
    ]
    if not tested and any(comparison.left_out for comparison in comparisons):
        return _("Votes that need no judge are not compared, so there is no verdict on {a} and {b}.", a=a, b=b)
    if not tested:
        return _("No benchmark has scored both {a} and {b} here, so no difference between them was tested.", a=a, b=b)
    ahead = [(title, difference) for title, difference in tested if difference.separable and difference.delta > 0]
    behind = [(title, difference) for title, difference in tested if difference.separable and difference.delta < 0]
    level = [title for title, difference in tested if not difference.separable]
    clauses = [_ahead(x, y, results=results) for x, y, results in ((a, b, ahead), (b, a, behind)) if results]
    if clauses:
        rest = _("; no significant difference on {level}.", level=listed(level)) if level else _(".")
        text = joined(clauses, _(", but ")) + rest
    else:
        text = _("There is no significant difference between {a} and {b} on {level}.", a=a, b=b, level=listed(level))
    return joined((_("Looking at these two alone:"), text), " ")


def _ahead(first: str, second: str, *, results: Sequence[tuple[str, ScoreDifference]]) -> str:
    where = [
        _(
            "{title} (+{points} points{evidence})",
            title=title,
            points=points(abs(result.delta)),
            evidence=_evidence(result),
        )
        for title, result in results
    ]
    return _(
        "{one} agrees with people more often than {other} on {where}", one=first, other=second, where=listed(where)
    )


def _evidence(difference: ScoreDifference) -> str:
    return "" if difference.p_adjusted is None else _(", {p}", p=p_text(difference.p_adjusted))


def offered_judges(lines: Sequence[JudgeLine], every: Sequence[JudgeLine]) -> list[JudgeLine]:
    """Return judges to choose from, in the usual order: those first that share most benchmarks with the one chosen.

    Without one, those on most benchmarks come first.
    """
    if len(lines) > 1:
        return []

    def shared(other: JudgeLine) -> int:
        cells = zip(*(line.cells for line in (*lines, other)), strict=True)
        return sum(all(cell is not None for cell in of_one_benchmark) for of_one_benchmark in cells)

    others = [other for other in every if other not in lines and shared(other)]
    return sorted(others, key=lambda other: -shared(other))
