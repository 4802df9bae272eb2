"""Intervals of accuracies whose pairs come in groups: pairs of one question are right or wrong together."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from benchmark.statistics.uncertainty import ALPHA, Interval, Z, wilson

FloatArray = npt.NDArray[np.float64]


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
    from scipy.special import stdtrit

    k, n = np.asarray(right, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if not n.size or not (n > 0).all() or not ((k >= 0) & (k <= n)).all():
        raise ValueError("each group has at least one pair, and between 0 and all of them right")
    total, share, groups = float(n.sum()), float(k.sum() / n.sum()), int(n.size)
    if groups == 1:
        return Interval(0.0, 1.0)  # one group tells nothing of how groups differ
    largest = float((n**2).sum()) / total
    deff = largest if share in (0.0, 1.0) else min(max(_design_effect(k, n), 1.0), largest)
    effective = total / deff * (Z / float(stdtrit(groups - 1, 1 - ALPHA / 2))) ** 2
    return wilson(share * effective, effective)


def _design_effect(k: FloatArray, n: FloatArray) -> float:
    """Return the cluster-robust variance of a ratio over that of as many independent pairs."""
    groups, total = n.size, float(n.sum())
    share = float(k.sum()) / total
    variance = groups / (groups - 1) * float(((k - share * n) ** 2).sum()) / total**2
    return variance / (share * (1 - share) / total)


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
