"""Best of several variants of one judge: expected selection gain, and intervals and tests that account for it.

The scores of k variants on the same items are taken as normal, with one correlation between every two of them. Nothing
is drawn: the distribution of the largest of k equally correlated normals is an integral over one variable (Dunnett &
Sobel 1955), taken by the trapezoidal rule. With unequal correlations their mean is used; the simulations of
``bench/statistics.py`` show what that does.

* Gain: of equal variants the best is expected E(k) sqrt(v / 2) above the truth, E(k) the mean of the largest of k
  independent standard normals, v the variance of the difference of two variants.
* Interval: the lower limit uses the quantile of the largest of k, so it holds whichever variant is chosen; the upper
  limit is the plain one. The best score is at least that of the truly best variant, so the chosen one lies above its
  plain upper limit no more often than any single variant does (Benjamini, Hechtlinger & Stark 2019).
* Test: that the best of k beats another judge is judged by the largest of k differences from it (Dunnett 1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, FloatArray
from vlrb.statistics.uncertainty import ALPHA, Z, macro_difference, paired_sums

CLEARLY_WORSE = 3.5  # standard errors; equals are that far apart in one of 2,000 pairs

_STEP, _REACH = 0.125, 9.0
_NARROWEST = 0.125  # of the kernel; a sharper one would fall between the nodes. Taken wider, results are conservative
_CHUNK = 1 << 14  # pairs at a time, each with as many nodes as the integral has


@cache
def expected_maximum(k: int) -> float:
    """Return the mean of the largest of k independent standard normals: 0 for one, 1.163 for 5, 1.629 for 12.

    Raises:
        ValueError: k is below 1.
    """
    from scipy.special import ndtr

    if k < 1:
        raise ValueError("the largest of nothing has no mean")
    x = np.arange(0, _REACH, _STEP / 8)
    tails = (1 - ndtr(x) ** k) - (1 - ndtr(x)) ** k
    return float((tails.sum() - tails[0] / 2) * _STEP / 8)


def luck(k: int, variance: float) -> float:
    """Return how far the best of k equal variants is expected above the truth; ``variance``: of the difference of
    two."""
    return expected_maximum(k) * float(np.sqrt(variance / 2))


def largest_tail(z: Any, k: Any, *, correlation: Any) -> FloatArray:
    """P(the largest of k standard normals is above z), every two of them equally correlated. Element by element.

    Correlations outside 0..1 - _NARROWEST^2 are taken as the nearest within: at the upper end that is conservative
    (Slepian 1962). At k = 1 this is the plain one-sided tail.
    """
    arrays = np.broadcast_arrays(*(np.asarray(values, dtype=np.float64) for values in (z, k, correlation)))
    flat = [array.ravel() for array in arrays]
    chunks = [[values[start : start + _CHUNK] for values in flat] for start in range(0, flat[0].size, _CHUNK)]
    parts = [_largest_tail(z_part, k_part, correlation=part) for z_part, k_part, part in chunks]
    return np.concatenate([np.zeros(0), *parts]).reshape(arrays[0].shape)


def _largest_tail(z: FloatArray, k: FloatArray, *, correlation: FloatArray) -> FloatArray:
    from scipy.special import log_ndtr, ndtr

    rho = np.clip(correlation, 0, 1 - _NARROWEST**2)
    nodes = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    weights = np.exp(-nodes * nodes / 2)
    weights /= weights.sum()
    inner = (z[:, np.newaxis] - np.sqrt(rho)[:, np.newaxis] * nodes) / np.sqrt(1 - rho)[:, np.newaxis]
    tail = -np.expm1(k[:, np.newaxis] * log_ndtr(inner)) @ weights
    # Never below one normal's tail, nor above the sum of k of them.
    return np.asarray(np.clip(tail, ndtr(-z), np.minimum(1.0, k * ndtr(-z))))


@lru_cache(maxsize=4096)
def largest_quantile(k: int, correlation: float, *, tail: float = ALPHA / 2) -> float:
    """Return the z that the largest of k equally correlated standard normals exceeds with a probability of ``tail``."""
    if k <= 1:
        return Z
    low, high = 0.0, _REACH
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(largest_tail(middle, k, correlation=correlation)) > tail else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of the best of several variants, for one order of the board.

    ``near``: variants that might have been the best, itself included. ``variance``: mean variance of the difference of
    two of them. ``gain``: selection gain (a fraction). ``z``: standard errors to the lower limit of the interval.
    """

    near: int
    variance: float
    gain: float
    z: float


def select_best(outcomes: Array, parts: Sequence[npt.NDArray[np.bool_]]) -> Selection:
    """Return the selection gain of the first of several variants. ``outcomes``: 0, 1/2 or 1, variants x items, the
    best first; ``parts``: the items of each category whose accuracies are averaged, as masks.

    Variants that lie more than CLEARLY_WORSE standard errors below it could not have been the best, and do not count.

    Raises:
        ValueError: no variant, or a part with fewer than two items.
    """
    if not len(outcomes):
        raise ValueError("the best of nothing")
    first, second = np.triu_indices(len(outcomes), k=1)
    sums = [(paired_sums(outcomes[:, part]), int(part.sum())) for part in parts]
    result = macro_difference([(net[first, second], squares[first, second], n) for (net, squares), n in sums])
    from_best = first == 0
    near = np.ones(len(outcomes), dtype=bool)
    near[second[from_best]] = result.delta[from_best] <= CLEARLY_WORSE * result.standard_error[from_best]
    variances = np.square(result.standard_error[near[first] & near[second]])
    variance, count = (float(variances.mean()), int(near.sum())) if variances.size else (0.0, 1)
    if not variance:  # nothing to choose between
        return Selection(1, 0.0, gain=0.0, z=Z)
    correlation = 1 - variance / (2 * _own_variance(outcomes[0], parts))
    return Selection(count, variance, gain=luck(count, variance), z=largest_quantile(count, round(correlation, 3)))


def _own_variance(outcomes: Array, parts: Sequence[npt.NDArray[np.bool_]]) -> float:
    """Return the variance of the mean over the parts of one judge's accuracy."""
    # A judge that is right on everything would have none, and its variants would seem opposed to one another.
    variances = [
        max(float(np.var(outcomes[part])), 0.5 / n * (1 - 0.5 / n)) / n for part in parts for n in [int(part.sum())]
    ]
    return sum(variances) / len(parts) ** 2


def selected_p(p: Any, k: Any, *, correlation: Any) -> FloatArray:
    """Return two-sided p of a difference whose better side is the best of k variants. At k = 1 it is p itself."""
    from scipy.special import ndtri

    plain = np.asarray(p, dtype=np.float64)
    z = -ndtri(np.maximum(plain, np.finfo(float).tiny) / 2)
    adjusted = np.minimum(1.0, 2 * largest_tail(z, k, correlation=correlation))
    return np.where(np.asarray(k) > 1, np.maximum(adjusted, plain), plain)
