"""Intervals of pairs in groups are as wide as groups make them, and never of width 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtr, stdtrit

from vlrb.arrays import FloatArray
from vlrb.statistics.clustered_intervals import GroupSums, effective_share
from vlrb.statistics.ranking import paired_tests, rank_ranges
from vlrb.statistics.uncertainty import Interval, wilson

SIZES = np.array([2] * 11 + [3] * 13 + [4] * 6 + [5] * 11 + [6] * 5)  # of the 46 groups of MM-RLHF-RewardBench


def interval_of(right: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Interval[FloatArray]:
    """Return the interval of each row of right pairs by group."""
    total, counted = right.sum(axis=-1), (sizes.size, sizes @ sizes, (right**2).sum(axis=-1), right @ sizes)
    sums = GroupSums(*(np.asarray(one, dtype=np.float64) for one in counted))
    effective: FloatArray = sizes.sum() * effective_share(total, sizes.sum(), sums=sums)
    return wilson(total / sizes.sum() * effective, effective)


def test_a_worked_example() -> None:
    # G = 4 groups of 2, right 2, 2, 1, 0: p = 5/8. Linearised variance 4/3 * (2 * .75^2 + .25^2 + 1.25^2) / 64
    # = .0573; independent pairs p(1-p)/8 = .0293; deff 1.956; n* = 8 / 1.956 * (1.95996 / 3.18245)^2 = 1.552
    effective = 8 / (4 / 3 * (2 * 0.75**2 + 0.25**2 + 1.25**2) / 64 / (0.625 * 0.375 / 8)) * (1.959964 / 3.182446) ** 2
    interval = interval_of(np.array([2, 2, 1, 0]), np.full(4, 2))
    assert interval == pytest.approx(wilson(0.625 * effective, effective), abs=1e-5)


@pytest.mark.parametrize("right", [0, 1])
def test_an_always_right_judge_has_an_interval_of_its_groups_and_one_group_tells_nothing(right: int) -> None:
    interval, plain = interval_of(right * SIZES, SIZES), wilson(46 * right, 46)
    assert interval.high - interval.low > (plain.high - plain.low) * 0.9
    assert interval_of(np.array([4 * right]), np.array([4])) == pytest.approx((0, 1), abs=1e-3)


@pytest.mark.parametrize("mean", [0.5, 0.8])
def test_it_covers_where_pairs_of_a_group_agree(mean: float) -> None:
    dice = np.random.default_rng(3)
    rate = dice.beta(mean, 1 - mean, (600, 46))  # pairs of a group correlate by .5
    right = dice.binomial(SIZES, rate)
    clustered, plain = interval_of(right, SIZES), wilson(right.sum(axis=1), 170)
    covered, by_plain = (np.mean((one.low <= mean) & (mean <= one.high)) for one in (clustered, plain))
    assert covered > 0.92 > 0.85 > by_plain


def test_a_paired_test_of_pairs_in_groups_is_that_of_the_group_totals() -> None:
    dice = np.random.default_rng(5)
    groups = np.repeat(np.arange(46), SIZES)
    of_group = dice.random((2, 46)) < [[0.8], [0.6]]
    correct = of_group[:, groups] ^ (dice.random((2, groups.size)) < 0.1)
    every = [np.ones(groups.size, dtype=bool)]
    found = paired_tests(correct, every, exact=True, groups=groups)
    d = np.array([(correct[0, groups == g].sum() - correct[1, groups == g].sum()) for g in range(46)])
    delta = d.sum() / groups.size
    error = np.sqrt(46 / 45 * ((d - delta * SIZES) ** 2).sum()) / groups.size
    assert found.delta == pytest.approx([delta])
    assert found.variance == pytest.approx([error**2])
    assert found.p == pytest.approx([2 * stdtr(45, -abs(delta) / error)])
    plain = paired_tests(correct, every, exact=True)
    assert found.p[0] > plain.p[0]
    assert found.reach == pytest.approx(stdtrit(45, 0.975))


def test_rank_ranges_of_groups_are_wider_where_pairs_of_a_group_agree() -> None:
    dice = np.random.default_rng(6)
    groups = np.repeat(np.arange(46), SIZES)
    rates = np.linspace(0.5, 0.8, 6)[:, np.newaxis]
    correct = (dice.random((6, 46)) < rates)[:, groups]
    every = [np.ones(groups.size, dtype=bool)]
    clustered = rank_ranges(6, paired_tests(correct, every, exact=True, groups=groups))
    plain = rank_ranges(6, paired_tests(correct, every, exact=True))
    assert (clustered.worst - clustered.best).sum() > (plain.worst - plain.best).sum()
