"""Composite of a judge's accuracies on several benchmarks: weighted mean, interval, rank range. Pure.

Items of different benchmarks are independent, so the variance of a weighted mean, and of the difference of two, is the
sum of w^2 times the variances. A benchmark's own interval carries the variance of a score, its paired tests that of a
difference: resampling items, which needs the labels, is not necessary; a test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vlrb.arrays import FloatArray
from vlrb.statistics.ranking import RankRanges, ranges_of
from vlrb.statistics.uncertainty import ALPHA, Interval, PairTests, Z, holm

RANKED_AT_MOST = 500  # the work is quadratic, and with more every range is wide


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """The headline of a judge on a benchmark: fractions."""

    value: float
    interval: Interval[float]


class PairedVariances(NamedTuple):
    """Variances of the paired differences of judges on one benchmark. ``variance``: a square over ``judges``."""

    judges: Sequence[str]
    variance: FloatArray


@dataclass(frozen=True, slots=True)
class Composite:
    """Weighted mean over benchmarks. ``best`` and ``worst``: the ranks that the intervals allow; None of too many."""

    value: float
    interval: Interval[float]
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
    scores: Mapping[str, Mapping[str, BenchmarkScore]],
    weights: Mapping[str, float],
    *,
    paired: Mapping[str, PairedVariances] = MappingProxyType({}),
) -> dict[str, Composite]:
    """Return the composite of each judge that has all benchmarks of ``weights``; the others get none.

    ``scores``: judge -> benchmark -> score. A rank range holds the ranks that no significant difference forbids. Two
    judges differ significantly where the difference of their composites does, by Holm's rule over all pairs.
    ``paired``: by benchmark the variances of differences. Where one of two judges is missing there, their intervals are
    taken as independent, which is conservative: both judged the same items.
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
    total = math.fsum(weights[name] for name in names)
    variance = sum(
        (weights[name] / total) ** 2
        * _variances([scores[judge][name] for judge in order], order, paired=paired.get(name))
        for name in names
    )
    ranges = _ranges(np.array([means[judge].value for judge in order]), np.asarray(variance))
    placed = zip(order, ranges.best.tolist(), ranges.worst.tolist(), strict=True)
    return {judge: Composite(means[judge].value, means[judge].interval, best, worst) for judge, best, worst in placed}


def _variances(
    scores: Sequence[BenchmarkScore], judges: Sequence[str], *, paired: PairedVariances | None
) -> FloatArray:
    """Return the variances of differences on one benchmark, row minus column, as a square.

    Without a paired test it comes from the limits that face each other where the row is ahead.
    """
    below = np.array([score.value - score.interval.low for score in scores]) / Z
    above = np.array([score.interval.high - score.value for score in scores]) / Z
    result = below[:, np.newaxis] ** 2 + above[np.newaxis] ** 2
    if paired is not None:
        places = {judge: place for place, judge in enumerate(judges)}
        known = [at for at, judge in enumerate(paired.judges) if judge in places]
        at = [places[paired.judges[place]] for place in known]
        result[np.ix_(at, at)] = paired.variance[np.ix_(known, known)]
    return result


def _ranges(values: FloatArray, squares: FloatArray) -> RankRanges:
    """Return the ranks that no significant difference forbids. ``values``: the best first; ``squares``: variances of
    differences, row minus column."""
    from scipy.special import erfc  # takes a third of a second to import

    first, second = np.triu_indices(len(values), 1)
    delta, variance = values[first] - values[second], squares[first, second]
    certain = np.where(delta > 0, np.inf, 0.0)  # without any uncertainty
    p = erfc(np.divide(delta, np.sqrt(2 * variance), out=certain, where=variance > 0))
    return ranges_of(len(values), PairTests(first, second, delta, variance, p), rejected=holm(p) < ALPHA)
