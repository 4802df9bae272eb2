"""Agreement between benchmarks: do two of them put the same judges in the same order? Pure.

Only figures of a column's own definition count: the headline of each board, scored here or reported under its grouping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from leaderboard.judges.table import JudgeLine, JudgeResult
from leaderboard.ranking.rows import Board
from vlrb.common.messages import _
from vlrb.statistics.rank_agreement import LEAST, RankCorrelation, rank_correlation


@dataclass(frozen=True, slots=True)
class SharedJudge:
    """A judge that both benchmarks have. ``hollow``: one of its figures was reported."""

    slug: str
    name: str
    first: float  # fractions
    second: float
    hollow: bool


@dataclass(frozen=True, slots=True)
class BenchmarkAgreement:
    """Two benchmarks, the judges that have the headline of both, and the correlation of their ranks."""

    first: Board
    second: Board
    judges: tuple[SharedJudge, ...]
    correlation: RankCorrelation | None


def agreements(lines: Sequence[JudgeLine], boards: Sequence[Board]) -> list[BenchmarkAgreement]:
    """Return every two benchmarks; ``lines`` have a cell for each board."""
    return [
        _agreement(lines, boards, first=first, second=second) for first, second in combinations(range(len(boards)), 2)
    ]


def _agreement(lines: Sequence[JudgeLine], boards: Sequence[Board], *, first: int, second: int) -> BenchmarkAgreement:
    judges = []
    for line in lines:
        x, y = headline(line.cells[first]), headline(line.cells[second])
        if x is not None and y is not None:
            judges.append(SharedJudge(line.slug, line.name, first=x[0], second=y[0], hollow=not (x[1] and y[1])))
    correlation = rank_correlation([judge.first for judge in judges], [judge.second for judge in judges])
    return BenchmarkAgreement(boards[first], boards[second], judges=tuple(judges), correlation=correlation)


def agreement_verdict(results: Sequence[BenchmarkAgreement]) -> str:
    """Return what the correlations say, in plain words; which of them is the largest the data cannot tell."""
    known = [(agreement.correlation, agreement) for agreement in results if agreement.correlation is not None]
    if not known:
        return _(
            "No two benchmarks have {least} judges in common yet, so their orders cannot be compared.", least=LEAST
        )
    if len(known) == 1:
        correlation, agreement = known[0]
        return _(
            "{first} and {second} have a rank correlation of {rho:.2f} over {count} judges.",
            first=agreement.first.spec.title,
            second=agreement.second.spec.title,
            rho=correlation.rho,
            count=correlation.n,
        )
    return _(
        "Of {count} pairs of benchmarks, {alike} order judges alike: the interval of the rank correlation is above 0.",
        count=len(known),
        alike=sum(correlation.interval.low > 0 for correlation, _agreement in known),
    )


def headline(cell: JudgeResult | None) -> tuple[float, bool] | None:
    """Return the headline of a judge on a board, and whether it was scored here; None without one.

    Each judge has one: an entry that is a version of another one has none. Votes that need no judge, results of a judge
    that was given the answer, and figures of another grouping or that do not add up, are none.
    """
    if cell is None:
        return None
    for row, figures in ((cell.scored, cell.figures), *cell.reports):
        for figure in figures if row is not None and row.is_ranked and not row.inconsistent else ():
            if figure.key == cell.board.headline:
                return figure.value, row is cell.scored
    return None
