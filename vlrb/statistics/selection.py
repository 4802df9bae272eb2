"""Best of several variants of one judge: expected selection gain, and an interval and tests that account for it.

* Gain: of equal variants the best is expected E(k) sqrt(v / 2) above the truth, E(k) the mean of the largest of k
  independent standard normals, v the variance of the difference of two variants.
* Interval: the lower limit has the level divided by k (Bonferroni), so it holds whichever variant is chosen; the upper
  limit is the plain one. The best score is at least that of the truly best variant, so the chosen one lies above its
  plain upper limit no more often than any single variant does (Benjamini, Hechtlinger & Stark 2019).
* Test: that the best of k beats another judge has k times its p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from vlrb.arrays import Array, BoolArray
from vlrb.statistics.ranking import paired_tests
from vlrb.statistics.uncertainty import ALPHA, Z

CLEARLY_WORSE = 3.5  # standard errors; equals are that far apart in one of 2,000 pairs

_STEP, _REACH = 1 / 64, 9.0  # of the integral


@cache
def expected_maximum(k: int) -> float:
    """Return the mean of the largest of k independent standard normals: 0 for one, 1.163 for 5, 1.629 for 12.

    Raises:
        ValueError: k is below 1.
    """
    from scipy.special import ndtr

    if k < 1:
        raise ValueError("the largest of nothing has no mean")
    x = np.arange(0, _REACH, _STEP)
    tails = (1 - ndtr(x) ** k) - (1 - ndtr(x)) ** k
    return float((tails.sum() - tails[0] / 2) * _STEP)


def luck(k: int, variance: float) -> float:
    """Return how far the best of k equal variants is expected above the truth; ``variance``: of the difference of
    two."""
    return expected_maximum(k) * float(np.sqrt(variance / 2))


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of the best of several variants, for one order of the board.

    ``near``: variants that might have been the best, itself included. ``gain``: selection gain (a fraction). ``z``:
    standard errors to the lower limit of the interval.
    """

    near: int
    gain: float
    z: float


def select_best(outcomes: Array, parts: Sequence[BoolArray]) -> Selection:
    """Return the selection gain of the first of several variants. ``outcomes``: 0, 1/2 or 1, variants x items, the
    best first; ``parts``: the items of each category whose accuracies are averaged, as masks.

    Variants that lie more than CLEARLY_WORSE standard errors below it could not have been the best, and do not count.

    Raises:
        ValueError: no variant, or a part with fewer than two items.
    """
    from scipy.special import ndtri  # takes a third of a second to import

    if not len(outcomes):
        raise ValueError("the best of nothing")
    tests = paired_tests(outcomes, parts, exact=False)
    near = np.ones(len(outcomes), dtype=bool)
    near[tests.second[tests.first == 0]] = (tests.delta <= CLEARLY_WORSE * np.sqrt(tests.variance))[tests.first == 0]
    variances = tests.variance[near[tests.first] & near[tests.second]]
    variance, count = (float(variances.mean()), int(near.sum())) if variances.size else (0.0, 1)
    if not variance:  # nothing to choose between
        return Selection(1, 0.0, z=Z)
    return Selection(count, luck(count, variance), z=-float(ndtri(ALPHA / 2 / count)))
