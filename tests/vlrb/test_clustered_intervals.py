"""Intervals of pairs in groups are as wide as groups make them, and never of width 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtr

from tests.factories.oracles.clustered_oracle import clustered_wilson, mean_interval
from tests.factories.oracles.pair_oracle import choose_first, choose_longer, groups_of, pair_credits, score_protocol
from tests.pair_files import mm_rlhf_items
from vlrb.benchmarks.pairs import read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.statistics.pairwise import GroupedPairs, _PairSums
from vlrb.statistics.ranking import paired_tests, rank_ranges
from vlrb.statistics.uncertainty import Interval, paired_sums, wilson

SIZES = np.array([2] * 11 + [3] * 13 + [4] * 6 + [5] * 11 + [6] * 5)  # of the 46 groups of MM-RLHF-RewardBench


def width(interval: Interval) -> float:
    return interval.high - interval.low


def test_pairs_that_are_right_together_count_as_fewer() -> None:
    together = clustered_wilson([4, 0] * 20, [4] * 40)
    apart = clustered_wilson([2, 2] * 20, [4] * 40)
    assert width(together) > 1.8 * width(wilson(80, 160))
    assert width(apart) == pytest.approx(width(wilson(80, 160)), rel=0.05)


def test_a_worked_example() -> None:
    # G = 4 groups of 2, right 2, 2, 1, 0: p = 5/8. Linearised variance 4/3 * (2 * .75^2 + .25^2 + 1.25^2) / 64
    # = .0573; independent pairs p(1-p)/8 = .0293; deff 1.956; n* = 8 / 1.956 * (1.95996 / 3.18245)^2 = 1.552
    interval = clustered_wilson([2, 2, 1, 0], [2, 2, 2, 2])
    effective = 8 / (4 / 3 * (2 * 0.75**2 + 0.25**2 + 1.25**2) / 64 / (0.625 * 0.375 / 8)) * (1.959964 / 3.182446) ** 2
    assert interval == pytest.approx(wilson(0.625 * effective, effective), abs=1e-5)


@pytest.mark.parametrize("right", [0, 1])
def test_an_always_right_judge_has_an_interval_of_its_groups(right: int) -> None:
    interval = clustered_wilson(right * SIZES, SIZES)
    assert width(interval) > width(wilson(46 * right, 46)) * 0.9
    assert interval.low == 0 or interval.high == 1


def test_one_group_tells_nothing() -> None:
    assert clustered_wilson([3], [4]) == Interval(0.0, 1.0)


@pytest.mark.parametrize(("right", "sizes"), [([], []), ([1], [0]), ([3], [2]), ([-1], [2])])
def test_impossible_counts_are_errors(right: list[int], sizes: list[int]) -> None:
    with pytest.raises(ValueError):
        clustered_wilson(right, sizes)


@pytest.mark.parametrize("mean", [0.5, 0.8])
def test_it_covers_where_pairs_of_a_group_agree(mean: float) -> None:
    dice = np.random.default_rng(3)
    rate = dice.beta(mean, 1 - mean, (600, 46))  # pairs of a group correlate by .5
    right = dice.binomial(SIZES, rate)
    covered = np.mean([low <= mean <= high for low, high in (clustered_wilson(row, SIZES) for row in right)])
    plain = np.mean([low <= mean <= high for low, high in (wilson(float(row.sum()), 170.0) for row in right)])
    assert covered > 0.92 > 0.85 > plain


def test_a_mean_has_the_interval_of_its_parts() -> None:
    part = (0.5, Interval(0.4, 0.6))
    assert width(mean_interval([part] * 4)) == pytest.approx(0.1)
    assert mean_interval([(1.0, Interval(0.9, 1.0))]).high == 1.0
    with pytest.raises(ValueError):
        mean_interval([])


def test_grouped_benchmarks_cluster_and_their_mean_has_an_interval() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    pairs = read_pairs(mm_rlhf_items(seed=4), spec)
    verdicts = choose_longer(pairs)
    credit = pair_credits(verdicts, pairs, protocol=spec.protocols[0])
    groups = [credit[groups_of(pairs) == group] for group in range(20)]
    wanted = clustered_wilson([group.sum() for group in groups], [len(group) for group in groups])
    scores = score_protocol(verdicts, pairs, protocol=spec.protocols[0])
    micro = scores.overalls["micro"]
    assert micro is not None and micro.interval == pytest.approx(wanted)
    perfect = score_protocol(choose_first(pairs), pairs, protocol=spec.protocols[0])
    assert perfect.groups is not None and perfect.groups["overall"] is not None
    assert perfect.groups["overall"].value == 1.0


def test_a_paired_test_of_pairs_in_groups_is_that_of_the_group_totals() -> None:
    dice = np.random.default_rng(5)
    groups = np.repeat(np.arange(46), SIZES)
    of_group = dice.random((2, 46)) < [[0.8], [0.6]]
    correct = of_group[:, groups] ^ (dice.random((2, groups.size)) < 0.1)
    every = [np.ones(groups.size, dtype=bool)]
    sums = GroupedPairs.count(correct, every, groups=groups)
    found = sums.tests([(paired_sums(correct), groups.size)], [[0]])
    d = np.array([(correct[0, groups == g].sum() - correct[1, groups == g].sum()) for g in range(46)])
    delta = d.sum() / groups.size
    error = np.sqrt(46 / 45 * ((d - delta * SIZES) ** 2).sum()) / groups.size
    assert found.delta == pytest.approx([delta])
    assert found.variance == pytest.approx([error**2])
    assert found.p == pytest.approx([2 * stdtr(45, -abs(delta) / error)])
    plain = paired_tests(correct, every, exact=True)
    assert found.p[0] > plain.p[0]
    each = correct[0].astype(int) - correct[1].astype(int)
    whole = _PairSums(each.sum(), (each**2).sum(), groups.size, whole=True)
    stored = sums.difference(0, 1, places=[0], sums=whole)
    assert (float(stored.delta), float(stored.variance)) == pytest.approx((delta, error**2))


def test_rank_ranges_of_groups_are_wider_where_pairs_of_a_group_agree() -> None:
    dice = np.random.default_rng(6)
    groups = np.repeat(np.arange(46), SIZES)
    rates = np.linspace(0.5, 0.8, 6)[:, np.newaxis]
    correct = (dice.random((6, 46)) < rates)[:, groups]
    every = [np.ones(groups.size, dtype=bool)]
    sums = GroupedPairs.count(correct, every, groups=groups)
    clustered = rank_ranges(6, sums.tests([(paired_sums(correct), groups.size)], [[0]]))
    plain = rank_ranges(6, paired_tests(correct, every, exact=True))
    assert (clustered.worst - clustered.best).sum() > (plain.worst - plain.best).sum()
