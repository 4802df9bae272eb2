"""Intervals and paired tests where pairs come in groups: pairs of one question are right or wrong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, BoolArray, FloatArray, IntArray
from vlrb.statistics.uncertainty import ALPHA, PairTests, Z, paired_sums

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


def clustered_tests(outcomes: Array, parts: Sequence[BoolArray], *, groups: IntArray) -> PairTests:
    """Return every two judges by a t test of the difference of their means over parts, which have no group in common.
    ``outcomes``: (judges, items).

    The variance is cluster-robust, but never below that of independent pairs: with d of a group of n pairs, and delta
    over all, G / (G - 1) * sum((d - delta * n)^2) / total^2.
    """
    from scipy.special import stdtr, stdtrit

    delta, variance = np.zeros((2, len(outcomes), len(outcomes)))
    freedom = 0
    for part in parts:
        inside, n = membership(groups[part]), int(part.sum())
        right, sizes = outcomes[:, part] @ inside, inside.sum(axis=0)
        net, discordant = paired_sums(outcomes[:, part])
        differences, weighted = paired_sums(right).squares, right @ sizes
        products = weighted[:, np.newaxis] - weighted[np.newaxis]
        own, between = net / n, len(sizes) / max(len(sizes) - 1, 1)
        clustered = between * (differences - 2 * own * products + own**2 * (sizes @ sizes)) / n**2
        variance = variance + np.maximum(clustered, np.maximum(discordant - net**2 / n, 0.0) / n**2) / len(parts) ** 2
        delta, freedom = delta + own / len(parts), freedom + len(sizes) - 1
    freedom, (first, second) = max(freedom, 1), np.triu_indices(len(outcomes), k=1)
    delta, variance = delta[first, second], variance[first, second]
    error = np.sqrt(variance)
    ratio = np.abs(delta) / np.where(error > 0, error, 1.0)
    p = np.where(error > 0, 2 * stdtr(freedom, -ratio), np.where(delta == 0, 1.0, 0.0))
    return PairTests(first, second, delta, variance, p, reach=float(stdtrit(freedom, 1 - ALPHA / 2)))


def membership(groups: IntArray) -> FloatArray:
    """Return (items, groups): 1 where the item is of the group; of the groups that occur."""
    names, index = np.unique(groups, return_inverse=True)
    members = np.zeros((groups.size, names.size))
    members[np.arange(groups.size), index] = 1
    return members
