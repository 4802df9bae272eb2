"""Agreement of two judges: corrected for a random order, and error consistency; neither follows the stored order."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics.judge_agreement import agreement_matrix, error_consistency
from vlrb.votes import ABSENT, UNDECIDED

verdict = st.sampled_from((0, 1, UNDECIDED, 2, ABSENT))


def agreement_over_both_orders(pairs):
    """Chance by enumeration: each judge's answer on a random item, as it is or with the two responses exchanged."""
    shared = [(a, b) for a, b in pairs if ABSENT not in (a, b)]
    if not shared:
        return None
    exchanged = {0: 1, 1: 0}
    first, second = (
        [turned for a in column for turned in (a, exchanged.get(a, a))] for column in zip(*shared, strict=True)
    )
    equal = sum(a == b for a, b in product(first, second))
    chance = equal / len(first) / len(second)
    observed = sum(a == b for a, b in shared) / len(shared)
    return None if chance == 1 else (observed - chance) / (1 - chance)


@given(st.lists(st.tuples(verdict, verdict), min_size=1, max_size=30))
def test_agreement_is_beyond_what_a_random_order_gives(pairs):
    found = agreement_matrix(np.array(pairs, dtype=np.int8).T)[0, 1]
    expected = agreement_over_both_orders(pairs)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)


def test_two_judges_that_decide_everything_agree_by_twice_the_share_less_one():
    verdicts = np.array([[0] * 10, [0] * 8 + [1] * 2])
    assert agreement_matrix(verdicts)[0, 1] == pytest.approx(2 * 0.8 - 1)


@given(st.integers(0, 1000), st.integers(0, 3))
def test_agreement_does_not_follow_the_stored_order_of_responses(seed, most):
    random = np.random.default_rng(seed)
    verdicts = random.choice([0, 1, UNDECIDED, ABSENT], size=(4, 50), p=[0.5, 0.3, 0.1, 0.1])
    turned = random.random(50) < most / 3
    exchanged = np.where(turned & (verdicts >= 0), 1 - verdicts, verdicts)
    assert agreement_matrix(exchanged) == pytest.approx(agreement_matrix(verdicts), nan_ok=True)


def test_error_consistency_is_that_of_the_table_of_right_and_wrong():
    # 50 items: both right 20, only the first 10, only the second 5, both wrong 15
    expected = 0.6 * 0.5 + 0.4 * 0.5
    assert error_consistency(20, 30, second_right=25, items=50) == pytest.approx((0.7 - expected) / (1 - expected))
    assert error_consistency(30, 30, second_right=30, items=50) == pytest.approx(1.0)


def test_judges_without_an_error_have_no_error_consistency():
    assert error_consistency(50, 50, second_right=50, items=50) is None
    with pytest.raises(ValueError, match="no items"):
        error_consistency(0, 0, second_right=0, items=0)
