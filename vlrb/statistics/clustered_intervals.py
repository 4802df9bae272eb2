"""Intervals of accuracies whose pairs come in groups: pairs of one question are right or wrong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlrb.arrays import FloatArray
from vlrb.statistics.uncertainty import ALPHA, Z

_NOTHING = 1e-9


class GroupSums(NamedTuple):
    """Sums over groups, each an array: groups, n * n, right * right, right * n."""

    groups: FloatArray
    squares: FloatArray
    right_squares: FloatArray
    products: FloatArray


def effective_share(right: npt.ArrayLike, total: npt.ArrayLike, *, sums: GroupSums) -> FloatArray:
    """Return n* / n, element by element: effective pairs over pairs, 1 where nothing was counted.

    Wilson's interval with n* in the place of n is that of an accuracy over groups (Korn & Graubard 1998; Dean & Pagano
    2015 compare it with others). n* = n / deff * (z / t)^2, where deff is the variance of the ratio by the
    linearised, cluster-robust estimator over the variance of independent pairs, and t the quantile with G - 1 degrees
    of freedom. deff is at least 1 and at most that of pairs which always agree within a group, sum(size^2) / n; where
    all pairs are right or all are wrong the data cannot tell it, and the latter is taken.
    One group tells nothing of how groups differ: its n* is next to nothing, so that the interval is from 0 to 1.
    """
    from scipy.special import stdtrit

    n = np.maximum(np.asarray(total, dtype=np.float64), 1.0)
    share = np.asarray(right, dtype=np.float64) / n
    largest = sums.squares / n
    known = (share > 0) & (share < 1) & (sums.groups > 1)
    deviations = sums.right_squares - 2 * share * sums.products + share**2 * sums.squares
    between = np.maximum(sums.groups - 1, 1)
    variance = sums.groups / between * deviations / n**2
    effect = variance / np.where(known, share * (1 - share) / n, 1.0)
    effect = np.where(known, np.minimum(np.maximum(effect, 1.0), largest), np.maximum(largest, 1.0))
    result = (Z / stdtrit(between, 1 - ALPHA / 2)) ** 2 / effect
    result = np.where(sums.groups > 1, result, _NOTHING)
    return np.asarray(np.where(np.asarray(total) > 0, result, 1.0))


class GroupedDifference(NamedTuple):
    """Differences of two judges' accuracies over pairs in groups, first minus second: arrays, element by element.

    ``freedom``: of the t test, groups less one.
    """

    delta: FloatArray
    variance: FloatArray
    freedom: FloatArray


class DifferenceSums(NamedTuple):
    """Sums over groups of d = right of the first minus right of the second, and n: d * d, d * n; then n * n, groups.

    ``discordant``: the sum of d * d over single pairs. ``total``: all pairs. Each is an array or a number.
    """

    differences: npt.ArrayLike
    products: npt.ArrayLike
    squares: npt.ArrayLike
    groups: npt.ArrayLike
    net: npt.ArrayLike
    discordant: npt.ArrayLike
    total: npt.ArrayLike


def grouped_difference(sums: DifferenceSums) -> GroupedDifference:
    """Return the difference and its variance: cluster-robust, but never below that of independent pairs.

    With d of a group and delta over all: G / (G - 1) * sum((d - delta * n)^2) / total^2.
    """
    differences, products, squares, groups, net, discordant, total = (
        np.asarray(value, dtype=np.float64) for value in sums
    )
    n = np.maximum(total, 1.0)
    delta = net / n
    between = groups / np.maximum(groups - 1, 1)
    clustered = between * (differences - 2 * delta * products + delta**2 * squares) / n**2
    independent = np.maximum(discordant - net**2 / n, 0.0) / n**2
    return GroupedDifference(delta, np.maximum(clustered, independent), freedom=groups - 1)


def mean_difference(parts: Sequence[GroupedDifference]) -> GroupedDifference:
    """Return the difference of two means of categories, which have no group in common."""
    delta = np.mean([part.delta for part in parts], axis=0)
    variance = np.sum([part.variance for part in parts], axis=0) / len(parts) ** 2
    return GroupedDifference(delta, variance, freedom=np.sum([part.freedom for part in parts], axis=0))


def grouped_reach(difference: GroupedDifference) -> FloatArray:
    """Return how far the 95% interval reaches to either side."""
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(difference.freedom, 1), 1 - ALPHA / 2)
    return np.asarray(quantile * np.sqrt(difference.variance))


def grouped_p(delta: npt.ArrayLike, variance: npt.ArrayLike, *, freedom: npt.ArrayLike) -> FloatArray:
    """Return two-sided p of a t test; 1 where two judges never differ."""
    from scipy.special import stdtr

    error = np.sqrt(np.asarray(variance, dtype=np.float64))
    difference = np.abs(np.asarray(delta, dtype=np.float64))
    ratio = difference / np.where(error > 0, error, 1.0)
    never = np.where(difference == 0, 1.0, 0.0)
    return np.asarray(np.where(error > 0, 2 * stdtr(np.maximum(freedom, 1), -ratio), never))
