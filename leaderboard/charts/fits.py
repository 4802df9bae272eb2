"""Linear fits, and records among points. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vlrb.statistics.uncertainty import ALPHA, Z


class Band(NamedTuple):
    """A fitted line and the 95% band of its mean, at some places."""

    x: list[float]
    low: list[float]
    middle: list[float]
    high: list[float]


@dataclass(frozen=True, slots=True)
class Fit:
    """Ordinary least squares through n points, with Pearson's r, its 95% interval and two-sided p."""

    n: int
    r: float
    low: float
    high: float
    p: float
    slope: float
    intercept: float
    x_mean: float
    x_spread: float  # sum of squares about the mean
    residual: float  # standard deviation about the line, n - 2 degrees of freedom

    def band(self, start: float, end: float, *, steps: int = 40) -> Band:
        """Return the 95% confidence band of the mean response: y +- t(.975, n - 2) s sqrt(1/n + (x - mean)^2 / Sxx)."""
        from scipy.special import stdtrit

        x = np.linspace(start, end, steps)
        middle = self.intercept + self.slope * x
        t = float(stdtrit(self.n - 2, 1 - ALPHA / 2))
        half = t * self.residual * np.sqrt(1 / self.n + (x - self.x_mean) ** 2 / self.x_spread)
        return Band(x.tolist(), (middle - half).tolist(), middle=middle.tolist(), high=(middle + half).tolist())


def fit_line(x: Sequence[float], y: Sequence[float]) -> Fit | None:
    """Return the fit; None with fewer than four points (r has no interval then), or where one of the two never varies.

    The interval of r is Fisher's: tanh(atanh(r) +- z / sqrt(n - 3)). p is Student's t with n - 2 degrees of freedom.
    """
    from scipy.special import stdtr

    n = len(x)
    if n < 4:
        return None
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    dx, dy = xs - xs.mean(), ys - ys.mean()
    sxx, syy, sxy = float(dx @ dx), float(dy @ dy), float(dx @ dy)
    if sxx < 1e-12 or syy < 1e-12:
        return None
    r = min(max(sxy / math.sqrt(sxx * syy), -1 + 1e-12), 1 - 1e-12)
    half = Z / math.sqrt(n - 3)
    t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
    slope = sxy / sxx
    residual = math.sqrt(max(syy - slope * sxy, 0.0) / (n - 2))
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    p = 2 * float(stdtr(n - 2, -t))
    return Fit(
        n,
        r,
        low=low,
        high=high,
        p=p,
        slope=slope,
        intercept=float(ys.mean() - slope * xs.mean()),
        x_mean=float(xs.mean()),
        x_spread=sxx,
        residual=residual,
    )


def best_so_far(points: Iterable[tuple[Any, float]]) -> list[int]:
    """Return indices of the points (ISO date or cost, score) that are better than everything before, in that order; of
    equal dates or costs the best. Over costs this is the Pareto front."""
    listed = list(points)
    best, records = -math.inf, []
    for index in sorted(range(len(listed)), key=lambda at: (listed[at][0], -listed[at][1])):
        if listed[index][1] > best:
            best = listed[index][1]
            records.append(index)
    return records
