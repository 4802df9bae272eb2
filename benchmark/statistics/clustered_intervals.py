"""Intervals of accuracies whose pairs come in groups: pairs of one question are right or wrong together."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmark.statistics.uncertainty import ALPHA, Interval, Z, wilson

FloatArray = npt.NDArray[np.float64]
_NOTHING = 1e-9


def clustered_wilson(right: npt.ArrayLike, sizes: npt.ArrayLike) -> Interval:
    """Return the 95% interval of sum(right) / sum(sizes) from the right pairs and the pairs of each group.

    It is Wilson's interval with the effective sample size in the place of n (Korn & Graubard 1998; Dean & Pagano
    2015 compare it with others). n* = n / deff * (z / t)^2, where deff is the variance of the ratio by the
    linearised, cluster-robust estimator over the variance of independent pairs, and t the quantile with G - 1 degrees
    of freedom. deff is at least 1 and at most that of pairs which always agree within a group, sum(size^2) / n; where
    all pairs are right or all are wrong the data cannot tell it, and the latter is taken.

    Raises:
        ValueError: there is no group, a group is empty, or has more right than there are.
    """
    k, n = np.asarray(right, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if not n.size or not (n > 0).all() or not ((k >= 0) & (k <= n)).all():
        raise ValueError("each group has at least one pair, and between 0 and all of them right")
    if n.size == 1:
        return Interval(0.0, 1.0)  # one group tells nothing of how groups differ
    total = n.sum()
    sums = GroupSums(*(np.asarray(value, dtype=np.float64) for value in (n.size, n @ n, k @ k, k @ n)))
    effective = float(effective_share(k.sum(), total, sums) * total)
    return wilson(float(k.sum() / total) * effective, effective)


class GroupSums(NamedTuple):
    """Sums over groups, each an array: groups, n * n, right * right, right * n."""

    groups: FloatArray
    squares: FloatArray
    right_squares: FloatArray
    products: FloatArray


def effective_share(right: npt.ArrayLike, total: npt.ArrayLike, sums: GroupSums) -> FloatArray:
    """Return n* / n of `clustered_wilson`, element by element; 1 where nothing was counted.

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
    found = (Z / stdtrit(between, 1 - ALPHA / 2)) ** 2 / effect
    found = np.where(sums.groups > 1, found, _NOTHING)
    return np.asarray(np.where(np.asarray(total) > 0, found, 1.0))


def mean_interval(parts: list[tuple[float, Interval]]) -> Interval:
    """Return the 95% interval of the mean of independent shares from their own intervals (MOVER, Zou & Donner 2008).

    Raises:
        ValueError: there is no share.
    """
    if not parts:
        raise ValueError("a mean needs at least one share")
    count = len(parts)
    mean = math.fsum(share for share, _ in parts) / count
    below = math.sqrt(math.fsum(((share - interval.low) / count) ** 2 for share, interval in parts))
    above = math.sqrt(math.fsum(((interval.high - share) / count) ** 2 for share, interval in parts))
    return Interval(max(0.0, mean - below), min(1.0, mean + above))
