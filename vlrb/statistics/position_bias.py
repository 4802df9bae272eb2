"""Position bias: what it changes whether the preferred response is shown first or second. Pure.

b is half of the difference between two accuracies: where the preferred response was shown first, and where it was shown
second. Unlike the share of votes for the response shown first, it tells bias from accuracy whatever the order was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vlrb.arrays import Array
from vlrb.statistics.uncertainty import Z, wilson

LEAST_SHARE = 0.2
"""Of the readable votes with a known order, on either side; with fewer the order is nearly always the same."""


@dataclass(frozen=True, slots=True)
class PositionBias:
    """b in fractions, positive where the response shown first is favoured, its 95% interval, and the number of
    pairs."""

    value: float
    low: float
    high: float
    pairs: int

    @property
    def favours(self) -> str:
        """Return the place that is favoured, first or second; "" where the interval includes 0."""
        return "first" if self.low > 0 else "second" if self.high < 0 else ""


def position_bias(right: Array, readable: Array, *, votes_per_pair: int) -> PositionBias | None:
    """Return the bias; None where the order is nearly always the same.

    ``right``, ``readable``: pairs x 2, votes where the preferred response came first, and where it came second. Of
    several votes a pair is a cluster (the linearised variance of a difference of ratios); of one, Newcombe's interval
    (1998, method 10).
    """
    known = np.asarray(readable).sum(axis=1) > 0
    y, w = (np.asarray(values)[known].astype(np.float64) for values in (right, readable))
    total, n = w.sum(axis=0), len(w)
    if is_one_sided(total[0], total[1]) or n < 2:
        return None
    right_votes = y.sum(axis=0)
    p = right_votes / total
    # Of whole numbers, with one division: (p[0] - p[1]) / 2 without digits that only look like some.
    value = float((right_votes[0] * total[1] - right_votes[1] * total[0]) / (2 * total[0] * total[1]))
    if votes_per_pair == 1:
        first, second = (wilson(y[:, side].sum(), total[side]) for side in (0, 1))
        low = value - float(np.hypot(p[0] - first.low, second.high - p[1])) / 2
        high = value + float(np.hypot(first.high - p[0], p[1] - second.low)) / 2
    else:
        reach = Z * clustered_error((y - p * w) / total @ np.array([1.0, -1.0])) / 2
        low, high = value - reach, value + reach
    return PositionBias(value, low, high=high, pairs=n)


def is_one_sided(first: float, second: float) -> bool:
    """Return whether nearly all votes, or all, were asked for in one order."""
    return min(first, second) < LEAST_SHARE * (first + second) or first + second == 0


def clustered_error(residuals: Array) -> float:
    """Return the standard error of a ratio, or of a difference of ratios, from a residual a cluster: sqrt(n / (n - 1)
    sum r^2). ``residuals``: (y - p w) / sum of w, at least two."""
    n = len(residuals)
    return float(np.sqrt(n / (n - 1) * np.square(residuals).sum()))
