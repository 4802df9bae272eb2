"""Agreement between benchmarks: do two of them put the same judges in the same order? Pure.

Only figures of a column's own definition count: the headline of each board, scored here or reported under its grouping.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from leaderboard.board.names import short_name
from leaderboard.board.rows import Board
from leaderboard.judges.table import JudgeLine, JudgeResult
from vlrb.common.messages import _
from vlrb.statistics.rank_agreement import LEAST, RankCorrelation, rank_correlation

WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 340, 260, 38, 34, 10  # of a drawing: size, room for ticks, and beside the points
_STEP = 10
_LETTER, _LINE, _APART = 6, 12, 7  # of a name: the width of a letter, its height, how far it is from its point


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

    @property
    def missing(self) -> int:
        """How many more judges a correlation needs."""
        return max(0, LEAST - len(self.judges))

    @property
    def axes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ends of both axes in percent."""
        return _span([judge.first for judge in self.judges]), _span([judge.second for judge in self.judges])

    def place(self, judge: SharedJudge) -> tuple[float, float]:
        """Return where the judge's point is in the drawing."""
        (low, high), (bottom, top) = self.axes
        return across(100 * judge.first, low, high=high), upward(100 * judge.second, bottom, high=top)

    def labels(self) -> list[tuple[str, float, float, str]]:
        """Return the names that have room beside their points: name, place, and which end of it is there."""
        points = [(judge, *self.place(judge)) for judge in self.judges]
        taken = [(x - 4, x + 4, y) for _judge, x, y in points]
        labels = []
        for judge, x, y in points:
            name, width = short_name(judge.name), _LETTER * len(short_name(judge.name))
            for start, anchor in ((x + _APART, "start"), (x - _APART - width, "end")):
                free = all(begin > start + width or end < start or abs(y - at) > _LINE for begin, end, at in taken)
                if free and start >= LEFT and start + width <= WIDTH:
                    taken.append((start, start + width, y))
                    labels.append((name, start if anchor == "start" else start + width, y, anchor))
                    break
        return labels

    def ticks(self) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
        """Return the ticks of both axes, with their places."""
        (low, high), (bottom, top) = self.axes
        steps = range(low, high + 1, _STEP), range(bottom, top + 1, _STEP)
        return [(across(tick, low, high=high), tick) for tick in steps[0]], [
            (upward(tick, bottom, high=top), tick) for tick in steps[1]
        ]


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


def across(value: float, low: int, *, high: int) -> float:
    """Return where a percentage is in a drawing, from the left."""
    return round(LEFT + (WIDTH - LEFT - EDGE) * (value - low) / (high - low), 1)


def upward(value: float, low: int, *, high: int) -> float:
    """Return where a percentage is in a drawing, from the top."""
    return round(EDGE + (HEIGHT - BOTTOM - EDGE) * (high - value) / (high - low), 1)


def _span(values: Sequence[float]) -> tuple[int, int]:
    """Return whole tens of percent around the values."""
    low = math.floor(100 * min(values, default=0.0) / _STEP) * _STEP
    high = math.ceil(100 * max(values, default=1.0) / _STEP) * _STEP
    return low, max(high, low + _STEP)
