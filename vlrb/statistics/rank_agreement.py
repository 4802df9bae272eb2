"""Agreement of two orders of the same judges: Spearman's rank correlation with its 95% interval. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlrb.statistics.uncertainty import Interval, Z

LEAST = 5
"""With fewer judges, the data cannot separate a correlation from none."""


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho over ``n`` judges."""

    rho: float
    interval: Interval[float]
    n: int


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> RankCorrelation | None:
    """Return the correlation of the ranks; equal values share the mean of their ranks. None with fewer than LEAST
    judges, or where one side has one value alone.

    The interval is that of Bonett & Wright (Psychometrika 65, 2000): tanh(atanh(rho) +- Z sqrt((1 + rho^2 / 2) /
    (n - 3))). Of equal orders it would have no width, so the rho of two neighbours exchanged is taken there.

    Raises:
        ValueError: the two have not the same length.
    """
    if len(first) != len(second):
        raise ValueError("two orders are of the same judges")
    n = len(first)
    if n < LEAST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    rho = float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])
    nearly = 1 - 12 / (n * (n * n - 1))
    usable = min(max(rho, -nearly), nearly)
    centre, width = math.atanh(usable), Z * math.sqrt((1 + usable * usable / 2) / (n - 3))
    low, high = math.tanh(centre - width), math.tanh(centre + width)
    return RankCorrelation(rho, Interval(min(low, rho), max(high, rho)), n=n)


def _ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return ranks from 1, the mean of them among equals."""
    _, places, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[places].astype(np.float64)
