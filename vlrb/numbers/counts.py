"""Counts of right answers that print as published figures, over denominators that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from vlrb.arrays import IntArray
from vlrb.benchmarks.spec import Split
from vlrb.numbers.figures import Figures, PublishedFigure, Reading

Right = tuple[int | None, ...]
_MOST_CELLS = 200_000  # combinations of counts looked at one by one


@dataclass(frozen=True, slots=True)
class Explanation:
    """Counts that produce the published figures under one split.

    ``right`` is None where the figures leave a category open. ``solutions``: how many different counts do it (0: only
    bounds were compared, the figures say too little); with more than one, ``right`` is the one nearest to the figures.
    ``exchanged``: fits only with the figures of two categories exchanged; ``right`` is then that of the true ones.
    """

    split: Split
    reading: Reading
    right: Right
    solutions: int
    exchanged: bool = False


def right_range(published_figure: PublishedFigure | None, n: Any, *, reading: Reading) -> tuple[Any, Any]:
    """Return the lowest and highest k that print as a figure over n items (a number or an array); empty if low >
    high."""
    if published_figure is None:
        return n * 0, n
    low, high, strict = published_figure.bounds(reading)
    # -(-a // b) rounds up; no count is below 0 or above n.
    return np.maximum(-(-low * n // published_figure.scale), 0), np.minimum(
        (high * n - strict) // published_figure.scale, n
    )


def prints(published_figure: PublishedFigure, right: Any, *, total: Any, reading: Reading) -> Any:
    """Return whether ``right`` of ``total`` print as a figure: one answer, or an array of them."""
    low, high, strict = published_figure.bounds(reading)
    return (low * total <= published_figure.scale * right) & (published_figure.scale * right <= high * total - strict)


def mean_of_figures_prints(figures: Figures, reading: Reading) -> bool:
    """Return whether the macro is the mean of the printed categories: some authors average what they had rounded."""
    known = [category for category in figures.categories if category is not None]
    if len(known) < len(figures.categories) or figures.mean is None:
        return False
    mean = sum((Fraction(printed.digits, 100 * 10**printed.decimals) for printed in known), start=Fraction(0)) / len(
        known
    )
    return bool(prints(figures.mean, mean.numerator, total=mean.denominator, reading=reading))


def _within_bounds(figures: Figures, n: IntArray, *, low: IntArray, high: IntArray, reading: Reading) -> bool:
    """Return whether overall and macro are within what the counts of each category allow. Necessary, not sufficient."""
    fits = True
    if figures.pooled is not None:
        least, most = right_range(figures.pooled, n.sum(), reading=reading)
        fits &= bool(least <= high.sum() and most >= low.sum() and least <= most)
    if figures.mean is not None and not mean_of_figures_prints(figures, reading):
        below, above = (float(len(figures.categories) * bound) for bound in figures.mean.range(reading))
        fits &= bool((high / n).sum() >= below - 1e-9 and (low / n).sum() <= above + 1e-9)
    return fits


def solve(figures: Figures, sizes: Sequence[int], *, reading: Reading) -> tuple[Right, int] | None:
    """Return (right per category, solutions) over exactly these denominators, or None if no counts do it."""
    ranges = [right_range(printed, n, reading=reading) for printed, n in zip(figures.categories, sizes, strict=True)]
    if any(low > high for low, high in ranges):
        return None
    if np.prod([high - low + 1 for low, high in ranges]) > _MOST_CELLS:
        low, high = (np.array(ends) for ends in zip(*ranges, strict=True))
        if not _within_bounds(figures, np.array(sizes), low=low, high=high, reading=reading):
            return None
        return tuple(int(k) if k == most else None for k, most in zip(low, high, strict=True)), 0
    counts = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int64) for low, high in ranges), indexing="ij")
    fits = np.ones(counts[0].shape, dtype=bool)
    if figures.pooled is not None:
        fits &= prints(figures.pooled, sum(counts), total=sum(sizes), reading=reading)
    if figures.mean is not None and not mean_of_figures_prints(figures, reading):
        product = int(np.prod(sizes))
        scaled = sum(k * (product // n) for k, n in zip(counts, sizes, strict=True))
        fits &= prints(figures.mean, scaled, total=len(sizes) * product, reading=reading)
    if not fits.any():
        return None
    result = np.stack([k[fits] for k in counts])
    return _nearest(figures, result, sizes=sizes), result.shape[1]


def _nearest(figures: Figures, int_array: IntArray, *, sizes: Sequence[int]) -> Right:
    """Return the counts (categories, solutions) that are nearest to the figures; None for a category left open."""
    distance = np.zeros(int_array.shape[1])
    for printed, k, n in zip(figures.categories, int_array, sizes, strict=True):
        if printed is not None:
            distance += np.abs(k / n - 2 * printed.digits / printed.scale)
    best = int_array[:, int(distance.argmin())]
    return tuple(
        None if printed is None and k.min() != k.max() else int(value)
        for printed, k, value in zip(figures.categories, int_array, best, strict=True)
    )


def full_fits(
    figures: Figures, splits: Sequence[Split], *, readings: Sequence[Reading], exchanged: bool = False
) -> tuple[Explanation, ...]:
    """Return all splits that fit on full denominators, under the plainest reading that gives any.

    A looser reading beside a plainer one that fits would only add coincidences.
    """
    for reading in readings:
        solved = ((split, solve(figures, split.sizes, reading=reading)) for split in splits)
        fits = tuple(
            Explanation(split, reading, *solution, exchanged=exchanged) for split, solution in solved if solution
        )
        if fits:
            return fits
    return ()
