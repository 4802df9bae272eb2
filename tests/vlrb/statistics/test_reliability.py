"""Value of more votes, consistency and agreement, each against a slow and obviously right count."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics.reliability import (
    agreement_matrix,
    cohen_kappa,
    corrected_accuracy,
    error_consistency,
    k_curve,
    rerun_error,
    self_consistency,
)
from vlrb.votes import ABSENT, UNDECIDED, condensed, majority

votes_of_judge = st.integers(1, 6).flatmap(
    lambda k: st.lists(st.lists(st.sampled_from((0, 1, -1)), min_size=k, max_size=k), min_size=1, max_size=12)
)


def curve_by_enumeration(agreeing_votes, total):
    """Strict accuracy over every subset of k votes, written out; summed over items."""
    curve = []
    for k in range(1, total + 1, 2):
        right = 0.0
        for agreeing in agreeing_votes:
            votes = [1] * agreeing + [0] * (total - agreeing)
            subsets = list(combinations(votes, k))
            right += sum(2 * sum(subset) > k for subset in subsets) / len(subsets)
        curve.append(right)
    return curve


@given(st.integers(1, 9).flatmap(lambda k: st.tuples(st.just(k), st.lists(st.integers(0, k), min_size=1, max_size=20))))
def test_the_k_curve_is_the_mean_over_all_subsets_of_votes(case):
    total, agreeing_votes = case
    histogram = np.bincount(agreeing_votes, minlength=total + 1)
    expected = curve_by_enumeration(agreeing_votes, total)
    assert k_curve(histogram) == pytest.approx(expected, abs=1e-9)


@given(votes_of_judge)
def test_self_consistency_is_the_mean_share_of_the_more_frequent_verdict(votes):
    k = len(votes[0])
    found = self_consistency(np.array(votes, dtype=np.int8))
    if k == 1:
        assert found is None
    else:
        assert found == pytest.approx(sum(max(v.count(0), v.count(1)) / k for v in votes) / len(votes))


def test_undecided_is_not_a_verdict_to_be_consistent_about_and_absent_items_are_left_out():
    assert self_consistency(np.array([[-1, -1], [1, 1], [-2, -2]], dtype=np.int8)) == 0.5


@given(votes_of_judge)
def test_a_majority_is_more_than_half_of_all_votes(votes):
    expected = [next((v for v in (0, 1) if 2 * row.count(v) > len(row)), -1) for row in votes]
    assert majority(np.array(votes, dtype=np.int8)).tolist() == expected


@given(votes_of_judge, st.sampled_from((0, 1)))
def test_two_votes_are_right_as_far_as_all_votes_are(votes, label):
    two = condensed(np.array(votes, dtype=np.int8)).tolist()
    shares = [row.count(label) / len(row) for row in votes]
    assert [pair.count(label) / 2 for pair in two] == [(share > 0.5) + (share == 0.5) / 2 for share in shares]
    assert majority(np.array(two, dtype=np.int8)).tolist() == majority(np.array(votes, dtype=np.int8)).tolist()


def test_an_absent_item_has_no_majority():
    assert majority(np.array([[-2, -2], [0, 0]], dtype=np.int8)).tolist() == [-2, 0]


def kappa_by_counting(a, b):
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != -2 and y != -2]
    observed = sum(x == y for x, y in pairs) / len(pairs)
    first, second = zip(*pairs, strict=True)
    chance = sum(first.count(v) * second.count(v) for v in (-1, 0, 1)) / len(pairs) ** 2
    return None if chance == 1 else (observed - chance) / (1 - chance)


@given(st.lists(st.tuples(st.sampled_from((0, 1, -1, -2)), st.sampled_from((0, 1, -1, -2))), min_size=1, max_size=40))
def test_kappa_is_agreement_beyond_chance_on_the_items_both_have(pairs):
    a, b = (np.array(column, dtype=np.int8) for column in zip(*pairs, strict=True))
    if not ((a != -2) & (b != -2)).any():
        with pytest.raises(ValueError, match="in common"):
            cohen_kappa(a, b)
        return
    expected = kappa_by_counting(a.tolist(), b.tolist())
    found = cohen_kappa(a, b)
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected, abs=1e-9)


def test_kappa_of_the_textbook_table_is_the_textbook_value():
    # 20 both yes, 5 only the first, 10 only the second, 15 both no: observed .7, chance .5
    cells = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    a, b = (np.array(column) for column in zip(*cells, strict=True))
    assert cohen_kappa(a, b) == pytest.approx(0.4)
    assert cohen_kappa(a, a) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("counts", "accuracy", "between", "within", "errors"),
    [
        ([59, 153, 247, 305, 293, 190], 0.5910, 0.0372, 0.2046, (0.0079, 0.0139, 0.0128)),
        ([22, 47, 73, 96, 119, 137, 153, 162, 164, 153, 121], 0.6093, 0.0515, 0.1867, (0.0075, 0.0138, 0.0122)),
    ],
)
def test_the_errors_of_drawn_pairs_and_of_the_judge_itself_are_told_apart(counts, accuracy, between, within, errors):
    """The moments of the official files with 5 and 10 votes (STATISTICS.md)."""
    found = rerun_error(np.array(counts))
    assert found.pairs == sum(counts) == 1247
    assert (found.accuracy, found.between, found.within) == pytest.approx((accuracy, between, within), abs=4e-4)
    assert (found.standard_error, found.standard_error_one, found.rerun) == pytest.approx(errors, abs=5e-5)


def test_the_rerun_error_is_that_of_simulated_reruns():
    dice = np.random.default_rng(5)
    ability = dice.beta(3, 2, 800)
    agreeing = dice.binomial(7, ability)
    found = rerun_error(np.bincount(agreeing, minlength=8))
    runs = (dice.random((4000, 800)) < ability).mean(axis=1)
    assert runs.std() == pytest.approx(found.rerun, rel=0.06)
    assert rerun_error(np.array([3, 4])) is None


@pytest.mark.parametrize(("wrong", "corrected"), [(16 / 1247, 0.7853), (0.05, 0.8089), (0.10, 0.8475)])
def test_an_accuracy_is_corrected_for_wrong_labels_as_in_the_worked_examples(wrong, corrected):
    assert corrected_accuracy(0.778, wrong) == pytest.approx(corrected, abs=5e-5)
    assert (corrected_accuracy(1 - wrong, wrong), corrected_accuracy(1, wrong)) == (pytest.approx(1), 1)
    with pytest.raises(ValueError, match="half"):
        corrected_accuracy(0.5, 0.5)


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


@given(st.integers(0, 1000), st.integers(0, 3))
def test_agreement_does_not_follow_the_stored_order_of_responses(seed, most):
    random = np.random.default_rng(seed)
    verdicts = random.choice([0, 1, UNDECIDED, ABSENT], size=(4, 50), p=[0.5, 0.3, 0.1, 0.1])
    turned = random.random(50) < most / 3
    exchanged = np.where(turned & (verdicts >= 0), 1 - verdicts, verdicts)
    assert agreement_matrix(exchanged) == pytest.approx(agreement_matrix(verdicts), nan_ok=True)


def test_error_consistency_is_that_of_the_table_of_right_and_wrong():
    # 50 items: both right 20, only the first 10, only the second 5, both wrong 15
    first, second = np.repeat([(1, 1), (1, 0), (0, 1), (0, 0)], (20, 10, 5, 15), axis=0).T
    expected = 0.6 * 0.5 + 0.4 * 0.5
    assert error_consistency(first, second) == pytest.approx((0.7 - expected) / (1 - expected))
    assert error_consistency(first, first) == pytest.approx(1.0)


def test_judges_without_an_error_have_no_error_consistency():
    assert error_consistency(np.ones(50), np.ones(50)) is None
    with pytest.raises(ValueError, match="no items"):
        error_consistency(np.ones(0), np.ones(0))
