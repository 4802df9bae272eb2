"""Confidence intervals and paired tests.

Most take numbers or numpy arrays (element by element, thousands at once) and give back what they were given: plain
floats for numbers, arrays for arrays. Shares are fractions 0..1, intervals are 95%.

No data is an error: a denominator of zero raises ValueError instead of giving a zero or a NaN.
``scipy.special`` is imported where it is needed: it costs a third of a second, and a command line starts with us.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, FloatArray, IntArray

Z = 1.959963984540054  # the standard normal's .975 quantile
ALPHA = 0.05
T = TypeVar("T", float, FloatArray)


class Interval(NamedTuple, Generic[T]):
    """A 95% interval of a share, or of each of many."""

    low: T
    high: T


class Differences(NamedTuple):
    """Paired differences of two macro averages (fractions, first judge minus second) and their two-sided p."""

    delta: FloatArray
    standard_error: FloatArray
    p: FloatArray


class PairTests(NamedTuple):
    """Every two entries by a paired test, none adjusted: arrays over the pairs (first, second), first < second."""

    first: IntArray
    second: IntArray
    delta: FloatArray  # first minus second
    variance: FloatArray  # of the difference
    p: FloatArray
    reach: float = Z  # standard errors to either end of a 95% interval


def _counts(k: Any, n: Any) -> tuple[FloatArray, FloatArray]:
    right, total = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64))
    if total.size and not (total > 0).all():
        raise ValueError("nothing was counted (n = 0): there is no share to give an interval of")
    if not ((right >= 0) & (right <= total)).all():
        raise ValueError("a count of right answers lies between 0 and n")
    return right, total


def _interval(low: Any, high: Any) -> Interval[Any]:
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def _wilson(k: FloatArray, n: FloatArray, *, z: float = Z) -> tuple[FloatArray, FloatArray]:
    share = k / n
    centre = share + z * z / (2 * n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # min and max: at k = 0 and k = n rounding would leave the bound a hair off 0 and 1, or off the share itself.
    low = np.where(k == 0, 0.0, np.minimum((centre - half) / scale, share))
    high = np.where(k == n, 1.0, np.maximum((centre + half) / scale, share))
    return low, high


def wilson(k: T, n: T | float, z: float = Z) -> Interval[T]:
    """Return the score interval of k right out of n (Wilson 1927; Brown, Cai & DasGupta 2001, formula 4).

    ``z``: how many standard errors it reaches to either side.

    Raises:
        ValueError: n is 0, or k does not lie between 0 and n.
    """
    return _interval(*_wilson(*_counts(k, n), z=z))


def clopper_pearson(k: float, n: float) -> Interval[float]:
    """Return the exact interval of k right out of n: quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k).

    Source: Clopper & Pearson 1934. Wider than Wilson; for those who must never undercover.

    Raises:
        ValueError: n is 0, or k does not lie between 0 and n.
    """
    from scipy.special import betaincinv

    _counts(k, n)
    low = float(betaincinv(k, n - k + 1, ALPHA / 2)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - ALPHA / 2)) if k < n else 1.0
    return Interval(low, high)


def paired_interval(b: float, c: float, *, n: int) -> Interval[float]:
    """Return the 95% interval of a paired difference (b - c) / n that agrees with the exact McNemar test of b and c.

    Given b + c, b is Binomial(b + c, share): the Clopper-Pearson limits of the share, mapped to the difference, exclude
    0 if and only if the exact p is below .05. They take b + c as known, though it varies as well, and cover far too
    seldom where nearly all discordant pairs favour one judge. So the adjusted Wald limits of Agresti & Min 2005 (half
    an item added to b and c, two to n) extend them, but never across 0 where the test excludes it. Where the two
    judges never differ, the limits are those of the share of pairs on which they might.
    """
    if b + c == 0:
        most = clopper_pearson(0, n).high
        return Interval(-most, most)
    share = clopper_pearson(b, b + c)
    low, high = ((b + c) * (2 * limit - 1) / n for limit in share)
    wald = _agresti_min(b, c, n=n)
    return Interval(
        low if low > 0 >= wald.low else min(low, wald.low),
        high if high < 0 <= wald.high else max(high, wald.high),
    )


def _agresti_min(b: float, c: float, *, n: int) -> Interval[float]:
    more, less, total = b + 0.5, c + 0.5, n + 2
    centre = (more - less) / total
    half = Z * float(np.sqrt(more + less - (more - less) ** 2 / total)) / total
    return Interval(max(centre - half, -1.0), min(centre + half, 1.0))


def mover_macro(parts: Sequence[tuple[T, T]], z: float = Z) -> Interval[T]:
    """Return the interval of a macro average from (right, n) per category: MOVER over Wilson intervals.

    low = m - sqrt(sum(((p_c - l_c) / C)^2)), high = m + sqrt(sum(((u_c - p_c) / C)^2)) for C categories with shares
    p_c and Wilson limits l_c, u_c (method of variance estimates recovery, Zou & Donner 2008). Closed form, and not
    of width 0 for a perfect judge, as a Wald interval is.

    Raises:
        ValueError: no category, an n of 0, or a count that does not lie between 0 and n.
    """
    if not parts:
        raise ValueError("a macro average needs at least one category")
    mean: Any = 0.0
    below: Any = 0.0
    above: Any = 0.0
    for k, n in parts:
        right, total = _counts(k, n)
        low, high = _wilson(right, total, z=z)
        share = right / total
        mean = mean + share / len(parts)
        below = below + ((share - low) / len(parts)) ** 2
        above = above + ((high - share) / len(parts)) ** 2
    # A mean of ones may be a hair over 1.
    return _interval(np.clip(mean - np.sqrt(below), 0, 1), np.clip(mean + np.sqrt(above), 0, 1))


def mcnemar_exact(b: T, c: T) -> T:
    """Return two-sided exact McNemar p: b items only the first judge gets right, c items only the second.

    2 * P(X <= min(b, c)) with X ~ Binomial(b + c, 1/2), at most 1 (McNemar 1947, exact form). Without a single
    discordant item p is 1: that is a finding about judges that agree, not missing data.
    """
    from scipy.special import bdtr

    first, second = np.broadcast_arrays(np.asarray(b, dtype=np.float64), np.asarray(c, dtype=np.float64))
    p: Any = np.minimum(1.0, 2 * bdtr(np.minimum(first, second), (first + second).astype(np.int64), 0.5))
    result: T = p.item() if np.ndim(p) == 0 else p
    return result


def macro_difference(parts: Sequence[tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]]) -> Differences:
    """Return the difference of two judges' macro averages by a paired z test, from three numbers per category: the
    sums over its n items of d and of d * d, and n, where d is the outcome of the first judge minus that of the second.

    Outcomes are 0, 1/2 or 1. delta = mean over C categories of the mean d, SE = sqrt(sum_c var_c / n_c) / C with var
    of ddof 1, p = 2 * Phi(-|delta / SE|). Where SE is 0, p is 1 if delta is 0 and else 0.

    Raises:
        ValueError: no category, or fewer than two items in one.
    """
    from scipy.special import ndtr

    if not parts:
        raise ValueError("a macro average needs at least one category")
    delta: Any = np.float64(0.0)
    variance: Any = np.float64(0.0)
    for part in parts:
        net, squares, total = (np.asarray(value, dtype=np.float64) for value in part)
        if not (total >= 2).all():
            raise ValueError("a variance needs at least two items in every category")
        delta = delta + net / total / len(parts)
        variance = variance + (squares - net * net / total) / (total - 1) / total
    error = np.sqrt(np.maximum(variance, 0.0)) / len(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error > 0, 2 * ndtr(-np.abs(delta) / error), np.where(delta == 0, 1.0, 0.0))
    return Differences(np.asarray(delta), np.asarray(error), p=p)


class PairedSums(NamedTuple):
    """Sums over items of d and of d * d, where d is the outcome of the row minus that of the column."""

    net: FloatArray
    squares: FloatArray


def paired_sums(outcomes: Array) -> PairedSums:
    """(entries, items) outcomes 0, 1/2 or 1 -> twice (entries, entries). Of whole outcomes, the items on which only
    the row is right are half of their sum, and those on which only the column is, half of their difference."""
    values = np.asarray(outcomes).astype(np.float32)  # sums of up to 2^24 quarters are exact
    both, right = (values @ values.T).astype(np.float64), values.sum(axis=1, dtype=np.float64)
    own = np.diag(both)
    return PairedSums(right[:, np.newaxis] - right[np.newaxis], own[:, np.newaxis] + own[np.newaxis] - 2 * both)


def holm(p_values: Sequence[float] | Array) -> FloatArray:
    """Holm's step-down adjustment (Holm 1979) of a one-dimensional family of p values, in the order given.

    Sorted ascending, the i-th of m (from 0) is multiplied by m - i, made monotone, and cut at 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)  # need not be stable: equal p values get the same adjusted one in any order
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    return adjusted


def unpaired_bounds(
    x: float, y: float, *, bounds: tuple[float, float] | None, others: tuple[float, float] | None
) -> tuple[float, float] | tuple[None, None]:
    """Return the limits of the difference of two independent accuracies, from their intervals; None without both.

    Newcombe 1998, method 10 (square and add); MOVER limits for the macro average.
    """
    if not bounds or not others:
        return None, None
    low = x - y - math.sqrt((x - bounds[0]) ** 2 + (others[1] - y) ** 2)
    return low, x - y + math.sqrt((bounds[1] - x) ** 2 + (y - others[0]) ** 2)
