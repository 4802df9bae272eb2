"""Slow oracle: intervals of accuracies over pairs in groups, and of a mean of accuracies, one at a time."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from vlrb.statistics.uncertainty import ALPHA, Interval, Z, wilson


def clustered_wilson(right: npt.ArrayLike, sizes: npt.ArrayLike) -> Interval[float]:
    """Return the 95% interval of sum(right) / sum(sizes) from the right pairs and the pairs of each group.

    Wilson's interval with the effective pairs of `effective_share`, computed for one accuracy alone.
    """
    k, n = np.asarray(right, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if n.size == 1:
        return Interval(0.0, 1.0)  # one group tells nothing of how groups differ
    total, share = n.sum(), k.sum() / n.sum()
    largest = (n @ n) / total  # of pairs that always agree within a group
    effect = largest
    if 0 < share < 1:
        variance = n.size / (n.size - 1) * ((k - share * n) ** 2).sum() / total**2
        effect = min(max(variance / (share * (1 - share) / total), 1.0), largest)
    effective = total / effect * (Z / stdtrit(n.size - 1, 1 - ALPHA / 2)) ** 2
    return wilson(float(share * effective), float(effective))


def mean_interval(parts: list[tuple[float, Interval[float]]]) -> Interval[float]:
    """Return the 95% interval of the mean of independent shares from their own intervals (MOVER, Zou & Donner 2008)."""
    count = len(parts)
    mean = math.fsum(share for share, _ in parts) / count
    below = math.sqrt(math.fsum(((share - interval.low) / count) ** 2 for share, interval in parts))
    above = math.sqrt(math.fsum(((interval.high - share) / count) ** 2 for share, interval in parts))
    return Interval(max(0.0, mean - below), min(1.0, mean + above))
