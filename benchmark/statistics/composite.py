"""Composite of a judge's accuracies on several benchmarks: weighted mean, interval, rank range. Pure.

Items of different benchmarks are independent, so the variance of a weighted mean is the weighted sum of the variances.
Each benchmark's own interval carries its variance (by groups where its pairs come in groups), so that resampling items
within each benchmark, which needs the labels, is not necessary: a test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmark.statistics.uncertainty import ALPHA, Interval, Z, holm


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """The headline of a judge on a benchmark: fractions."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Composite:
    """Weighted mean over benchmarks. ``best`` and ``worst``: the ranks that the intervals allow."""

    value: float
    interval: Interval
    best: int
    worst: int


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
    better: dict[str, int] = dict.fromkeys(complete, 0)
    worse: dict[str, int] = dict.fromkeys(complete, 0)
    for first, second in _separable(means):
        worse[first] += 1
        better[second] += 1
    return {
        judge: Composite(mean.value, mean.interval, 1 + better[judge], len(complete) - worse[judge])
        for judge, mean in means.items()
    }


def _separable(means: Mapping[str, BenchmarkScore]) -> list[tuple[str, str]]:
    """Return the pairs of judges of which the first is significantly better."""
    pairs = [
        (first, second) if means[first].value >= means[second].value else (second, first)
        for first, second in combinations(means, 2)
    ]
    if not pairs:
        return []
    adjusted = holm([_p_value(means[first], means[second]) for first, second in pairs])
    return [pair for pair, p in zip(pairs, adjusted, strict=True) if p < ALPHA]


def _p_value(first: BenchmarkScore, second: BenchmarkScore) -> float:
    """Return the two-sided p of a difference, from the limits that face each other."""
    error = math.hypot(first.value - first.interval.low, second.interval.high - second.value) / Z
    if error == 0:
        return 1.0 if first.value == second.value else 0.0
    return math.erfc((first.value - second.value) / error / math.sqrt(2))
