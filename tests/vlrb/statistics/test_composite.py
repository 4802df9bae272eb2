"""Composites over benchmarks: their means, intervals and rank ranges."""

from __future__ import annotations

from itertools import permutations
from math import erfc, hypot, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.oracles.clustered_oracle import clustered_wilson
from vlrb.statistics.composite import RANKED_AT_MOST, BenchmarkScore, PairedVariances, composites, weighted_mean
from vlrb.statistics.uncertainty import Interval, Z, holm, wilson


def score(right: int, n: int) -> BenchmarkScore:
    return BenchmarkScore(right / n, wilson(right, n))


def test_one_benchmark_alone_keeps_its_interval() -> None:
    part = score(80, 100)
    mean = weighted_mean([part], [3])
    assert (mean.value, *mean.interval) == pytest.approx((part.value, *part.interval))


def test_the_interval_is_that_of_resampling_items_and_groups_within_benchmarks() -> None:
    generator = np.random.default_rng(7)
    items = generator.random(1250) < 0.7
    groups = generator.binomial(4, generator.beta(4, 2, 46))  # of four pairs each
    parts = [
        BenchmarkScore(items.mean(), wilson(items.sum(), items.size)),
        BenchmarkScore(groups.sum() / 184, clustered_wilson(groups, [4] * 46)),
    ]
    found = weighted_mean(parts, [1, 1]).interval
    draws = [
        (generator.choice(items, items.size).mean() + generator.choice(groups, groups.size).sum() / 184) / 2
        for _ in range(4000)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=4), st.data())
def test_the_interval_holds_the_mean_and_weights_scale(rights: list[int], data: st.DataObject) -> None:
    parts = [score(right, 100) for right in rights]
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(parts), max_size=len(parts)))
    mean = weighted_mean(parts, weights)
    assert mean.interval.low <= mean.value <= mean.interval.high
    scaled = weighted_mean(parts, [10 * weight for weight in weights])
    assert (scaled.value, *scaled.interval) == pytest.approx((mean.value, *mean.interval))


@pytest.mark.parametrize("weights", [[], [0.0], [-1.0]])
def test_weights_that_weigh_nothing_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="composite"):
        weighted_mean([score(1, 2)] * len(weights), weights)


def test_a_judge_without_one_of_the_benchmarks_has_no_composite() -> None:
    scores = {"a": {"x": score(90, 100), "y": score(80, 100)}, "b": {"x": score(99, 100)}}
    assert set(composites(scores, {"x": 1, "y": 1})) == {"a"}
    assert set(composites(scores, {"x": 1})) == {"a", "b"}
    assert set(composites(scores, {"x": 1, "y": 0})) == {"a", "b"}, "a weight of 0 asks for nothing"


def test_equal_judges_without_uncertainty_are_not_separated() -> None:
    certain = BenchmarkScore(1.0, Interval(1.0, 1.0))
    found = composites({"a": {"x": certain}, "b": {"x": certain}}, {"x": 1})
    assert {(one.best, one.worst) for one in found.values()} == {(1, 2)}


@given(st.lists(st.integers(1, 99), min_size=2, max_size=7))
def test_rank_ranges_are_those_of_testing_every_pair_one_by_one(rights: list[int]) -> None:
    scores = {str(place): {"x": score(right, 100)} for place, right in enumerate(rights)}
    found = composites(scores, {"x": 1})
    pairs, p_values = [], []
    for first, second in permutations(scores, 2):
        best, other = scores[first]["x"], scores[second]["x"]
        if (best.value, second) > (other.value, first):  # each pair once, the better one first
            error = hypot(best.value - best.interval.low, other.interval.high - other.value) / Z
            pairs.append((first, second))
            p_values.append(erfc((best.value - other.value) / error / sqrt(2)))
    apart = [pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < 0.05]
    for judge, composite in found.items():
        assert composite.best == 1 + sum(second == judge for _, second in apart)
        assert composite.worst == len(scores) - sum(first == judge for first, _ in apart)


@pytest.mark.parametrize(("deviates", "ranks"), [(2.0, (1, 1)), (1.9, (1, 2))])
def test_differences_are_tested_by_the_weighted_sum_of_paired_variances(
    deviates: float, ranks: tuple[int, int]
) -> None:
    scores = {"a": {"x": score(620, 1000), "y": score(635, 1000)}, "b": {"x": score(600, 1000), "y": score(610, 1000)}}
    weights = {"x": 1, "y": 3}
    difference = 0.25 * 0.02 + 0.75 * 0.025
    whole = (difference / deviates) ** 2  # of the difference of both composites
    variance = {"x": whole / 2 / 0.25**2, "y": whole / 2 / 0.75**2}
    paired = {name: PairedVariances(["b", "a"], np.full((2, 2), own)) for name, own in variance.items()}
    found = composites(scores, weights, paired=paired)["a"]
    assert (found.best, found.worst) == ranks
    assert composites(scores, weights)["a"].worst == 2, "as independent intervals they are not apart"
    elsewhere = {name: PairedVariances(["a", "c"], np.full((2, 2), own)) for name, own in variance.items()}
    assert composites(scores, weights, paired=elsewhere) == composites(scores, weights)


def test_too_many_judges_have_composites_without_ranks() -> None:
    scores = {str(place): {"x": score(place % 90 + 5, 100)} for place in range(RANKED_AT_MOST + 1)}
    assert {(one.best, one.worst) for one in composites(scores, {"x": 1}).values()} == {(None, None)}
