"""Composite of a judge's accuracies on several benchmarks: weighted mean, interval, rank range. Pure.

Items of different benchmarks are independent, so the variance of a weighted mean is the weighted sum of the variances.
Each benchmark's own interval carries its variance (by groups where its pairs come in groups), so that resampling items
within each benchmark, which needs the labels, is not necessary: a test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlrb.statistics.uncertainty import ALPHA, Interval, Z, holm

RANKED_AT_MOST = 500  # the work is quadratic, and with more every range is wide


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """The headline of a judge on a benchmark: fractions."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Composite:
    """Weighted mean over benchmarks. ``best`` and ``worst``: the ranks that the intervals allow; None of too many."""

    value: float
    interval: Interval
    best: int | None
    worst: int | None


def weighted_mean(scores: Sequence[BenchmarkScore], weights: Sequence[float]) -> BenchmarkScore:
    """Return the weighted mean of independent scores with its 95% interval (MOVER, Zou & Donner 2008).

    low = m - sqrt(sum((w_b (s_b - l_b))^2)), high likewise, with weights that sum to 1.

    Raises:
        ValueError: no score, a negative weight, or no positive one.
    """
    total = math.fsum(weights)
    if not scores or total <= 0 or min(weights) < 0:
        raise ValueError("a composite needs a score, and weights of at least 0 that are not all 0")
    shares = [weight / total for weight in weights]
    mean = math.fsum(share * score.value for share, score in zip(shares, scores, strict=True))
    below = math.hypot(*(s * (score.value - score.interval.low) for s, score in zip(shares, scores, strict=True)))
    above = math.hypot(*(s * (score.interval.high - score.value) for s, score in zip(shares, scores, strict=True)))
    return BenchmarkScore(mean, Interval(max(0.0, mean - below), min(1.0, mean + above)))


def composites(
    scores: Mapping[str, Mapping[str, BenchmarkScore]], weights: Mapping[str, float]
) -> dict[str, Composite]:
    """Return the composite of each judge that has all benchmarks of ``weights``; the others get none.

    ``scores``: judge -> benchmark -> score. A rank range holds the ranks that no significant difference forbids. Two
    judges differ significantly where the difference of their composites does, by Holm's rule over all pairs. Their
    intervals are taken as independent, which is conservative: both judged the same items.
    """
    names = [benchmark for benchmark, weight in weights.items() if weight > 0]
    complete = [judge for judge, own in scores.items() if all(name in own for name in names)]
    means = {
        judge: weighted_mean([scores[judge][name] for name in names], [weights[name] for name in names])
        for judge in complete
    }
    if len(means) > RANKED_AT_MOST:
        return {judge: Composite(mean.value, mean.interval, best=None, worst=None) for judge, mean in means.items()}
    order = sorted(means, key=lambda judge: -means[judge].value)
    beats = _separable([means[judge] for judge in order])
    better, worse = beats.sum(axis=0), beats.sum(axis=1)
    return {
        judge: Composite(
            means[judge].value, means[judge].interval, best=1 + int(better[place]), worst=len(order) - int(worse[place])
        )
        for place, judge in enumerate(order)
    }


def _separable(means: Sequence[BenchmarkScore]) -> npt.NDArray[np.bool_]:
    """Return a square: whether the row is significantly better than the column. ``means``: the best first.

    The two-sided p of a difference comes from the limits that face each other.
    """
    from scipy.special import erfc  # takes a third of a second to import

    beats = np.zeros((len(means), len(means)), dtype=np.bool_)
    if len(means) < 2:
        return beats
    value = np.array([mean.value for mean in means])
    low, high = (np.array([mean.interval[side] for mean in means]) for side in (0, 1))
    first, second = np.triu_indices(len(means), 1)
    difference = value[first] - value[second]
    error = np.hypot(value[first] - low[first], high[second] - value[second]) / Z
    certain = np.where(difference > 0, np.inf, 0.0)  # without any uncertainty
    scaled = np.divide(difference, error, out=certain, where=error > 0)
    beats[first, second] = holm(erfc(scaled / math.sqrt(2))) < ALPHA
    return beats
