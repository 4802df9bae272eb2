"""The fewest dropped items that make published figures fit: a search over smaller denominators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from vlrb.arrays import IntArray
from vlrb.benchmarks.spec import Split
from vlrb.numbers.answer import Explanation
from vlrb.numbers.counts import right_range, solve, within_bounds
from vlrb.numbers.figures import Figures, PublishedFigure

Shares = tuple[Fraction, Fraction]  # lowest and highest, 0..1
_MOST_TUPLES = 400_000  # denominators compared with the bounds in one go
_MOST_SUMS = 4_000_000  # combinations of denominators added up in one go
_MOST_EXACT = 3_000  # denominators that pass the bounds and are then solved exactly
_MOST_STEPS = 60  # numbers of dropped items tried beyond the least that the bounds allow


@dataclass(frozen=True, slots=True)
class Denominators:
    """Of one category: for every n up to its size the lowest and highest count that print its figure."""

    low: IntArray  # (size + 1,)
    high: IntArray  # (size + 1,)
    possible: IntArray  # the n that have a count at all

    @classmethod
    def of(cls, published_figure: PublishedFigure | None, share: Shares, *, size: int) -> Denominators:
        """Return all denominators 1..size, for a figure that was rounded; without one, for the shares that are left
        to it."""
        n = np.arange(size + 1, dtype=np.int64)
        if published_figure is not None:
            low, high = right_range(published_figure, n, reading="rounded")
        else:
            low = -(-share[0].numerator * n // share[0].denominator)
            high = share[1].numerator * n // share[1].denominator
        return cls(low, high, possible=np.nonzero((low <= high) & (n > 0))[0])

    @property
    def size(self) -> int:
        """Return the full denominator."""
        return self.low.size - 1


def _shares(figures: Figures) -> list[Shares]:
    """Per category the shares that its rounded figure allows; the macro bounds a single missing one."""
    known = [category.range("rounded") for category in figures.categories if category is not None]
    missing = (Fraction(0), Fraction(1))
    if figures.mean is not None and len(known) == len(figures.categories) - 1:
        low, high = figures.mean.range("rounded")
        least = len(figures.categories) * low - sum((share[1] for share in known), start=Fraction(0))
        most = len(figures.categories) * high - sum((share[0] for share in known), start=Fraction(0))
        missing = (max(Fraction(0), least), min(Fraction(1), most))
    return [missing if category is None else category.range("rounded") for category in figures.categories]


def _least_by_bounds(figures: Figures, sizes: Sequence[int]) -> int | None:
    """Return a number of dropped items that the overall cannot do without; None if no number suffices.

    Every item dropped from the category furthest on the wrong side of the overall helps most, so taking those first
    is the optimum of the problem without whole numbers.
    """
    if figures.pooled is None:
        return 0
    low, high = figures.pooled.range("rounded")
    shares = _shares(figures)
    needed = 0
    for gains in ([share[1] - low for share in shares], [high - share[0] for share in shares]):
        balance = sum((n * gain for n, gain in zip(sizes, gains, strict=True)), start=Fraction(0))
        count = 0
        for gain, n in sorted(zip(gains, sizes, strict=True)):
            if balance >= 0 or gain >= 0:
                break
            drop = min(n - 1, -int(balance // -gain))
            balance -= drop * gain
            count += drop
        if balance < 0:
            return None
        needed = max(needed, count)
    return needed


def _candidates(figures: Figures, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Denominators that pass the bounds, fewest dropped items first."""
    given = zip(figures.categories, _shares(figures), sizes, strict=True)
    parts = [Denominators.of(printed, share, size=size) for printed, share, size in given]
    start = _least_by_bounds(figures, sizes)
    if start is None:
        return
    if np.prod([part.possible.size for part in parts]) <= _MOST_TUPLES:
        grid = np.meshgrid(*(part.possible for part in parts), indexing="ij")
        yield from _passing(figures, parts, n=np.stack([axis.ravel() for axis in grid]))
        return
    for dropped in range(max(start, 1), min(start + _MOST_STEPS, sum(sizes) - 2)):
        yield from _passing(figures, parts, n=_with_total(parts, sum(sizes) - dropped, dropped=dropped))


def _with_total(parts: Sequence[Denominators], total: int, *, dropped: int) -> IntArray:
    """(categories, m): all possible denominators that add up to a total, when that many items are dropped."""
    heads = [part.possible[part.possible >= part.size - dropped] for part in parts[:-1]]
    if np.prod([head.size for head in heads]) > _MOST_SUMS:
        return np.zeros((len(parts), 0), dtype=np.int64)
    grid = np.meshgrid(*heads, indexing="ij")
    rest = total - np.sum(grid, axis=0)
    last = parts[-1]
    possible = np.zeros(last.size + 2, dtype=bool)  # with a last place for totals that are out of range
    possible[last.possible] = True
    fits = possible[np.where((rest > 0) & (rest <= last.size), rest, -1)]
    return np.stack([*(axis[fits] for axis in grid), rest[fits]])


def _passing(figures: Figures, parts: Sequence[Denominators], *, n: IntArray) -> Iterator[tuple[int, ...]]:
    low = np.stack([part.low[column] for part, column in zip(parts, n, strict=True)])
    high = np.stack([part.high[column] for part, column in zip(parts, n, strict=True)])
    passing = n[:, within_bounds(figures, n, low=low, high=high, reading="rounded")]
    for index in np.argsort(-passing.sum(axis=0), kind="stable"):
        yield tuple(passing[:, index].tolist())


def fewest_dropped(figures: Figures, splits: Sequence[Split]) -> Iterator[Explanation]:
    """Per split the first denominators, fewest dropped items first, that have counts for all figures.

    A split whose every size is at most that of an earlier one (v2 of v0) needs no search of its own if the earlier
    answer lies within it (dropping fewer would answer the earlier one better), or if there was no earlier answer.
    """
    result: dict[Split, Explanation | None] = {}
    for split in splits:
        wider = next((candidate for candidate in result if _within(split.sizes, candidate.sizes)), None)
        answer = result[wider] if wider else None
        if wider is None or (answer is not None and not _within(answer.denominators, split.sizes)):
            answer = _first_solution(figures, split)
        result[split] = replace(answer, split=split) if answer else None
    yield from (answer for answer in result.values() if answer)


def _within(sizes: Sequence[int], others: Sequence[int]) -> bool:
    return all(n <= other for n, other in zip(sizes, others, strict=True))


def _first_solution(figures: Figures, split: Split) -> Explanation | None:
    for sizes in islice(_candidates(figures, split.sizes), _MOST_EXACT):
        solved = solve(figures, sizes, reading="rounded")
        if solved:
            return Explanation(split, "rounded", sizes, *solved)
    return None
