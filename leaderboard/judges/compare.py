"""Comparison of two judges on every benchmark that has both. Pure.

Two entries scored here are compared under the same rule, pair by pair where that is possible. Nothing else has a
difference: the rules of sources may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from leaderboard.board.names import listed
from leaderboard.board.rows import Board, BoardRow
from leaderboard.cache import BoardVersion
from leaderboard.judges.table import JudgeLine, JudgeResult, OverallFigure, variant_of
from leaderboard.pages.compare import ScoreDifference, adjust, compare, p_text, points
from vlrb.common.messages import _, joined
from vlrb.protocols import protocols
from vlrb.statistics.pairwise import PairwiseArrays


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
    rows: tuple[BoardRow | None, BoardRow | None] = (None, None)  # the results that have the figures

    @property
    def variants(self) -> tuple[str, str]:
        """How each result was made, where that is not one plain answer for each pair; why it leads nothing."""
        first, second = ("" if row is None else variant_of(row) for row in self.rows)
        return first, second


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
    adjusted = iter(adjust([one.difference for one in comparisons if one.difference is not None]))
    return tuple(one if one.difference is None else replace(one, difference=next(adjusted)) for one in comparisons)


def _on_benchmark(
    board_version: BoardVersion, cells: Sequence[JudgeResult | None], *, relations: PairwiseArrays | None
) -> BenchmarkComparison:
    first, second = cells
    if first is not None and second is not None and first.figures and second.figures:
        return _scored(board_version, (first, second), relations=relations)
    figures, rows = (
        (None if first is None else read(first), None if second is None else read(second))
        for read in (attrgetter("leading"), attrgetter("leading_row"))
    )
    how = "" if None in figures else _("Reported figures have no votes to compare, and their rules may differ.")
    return BenchmarkComparison(
        board_version.board(), first, second=second, figures=figures, difference=None, how=how, rows=rows
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


def verdict(lines: tuple[JudgeLine, JudgeLine], comparisons: Sequence[BenchmarkComparison]) -> str:
    """Return what the comparison says, in plain words."""
    a, b = (line.name for line in lines)
    tested = [(one.board.spec.title, one.difference) for one in comparisons if one.difference is not None]
    if not tested:
        return _("No benchmark has scores of {a} and {b} that can be compared, so no difference was tested.", a=a, b=b)
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
