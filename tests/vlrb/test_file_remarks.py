"""Votes that need no judge: those of a baseline, or all for one place of the file."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.snapshots import items
from tests.factories.three_benchmarks import labelled
from vlrb.baselines import FIRST, LONGER, always_first, always_longer
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import TIE
from vlrb.file_remarks import LEAST_VOTES, SAME_SHARE, is_one_sided, same_as_baseline
from vlrb.votes import ABSENT, OTHER, PREFERRED, UNDECIDED, Matrix

MM_RLHF = labelled("mm-rlhf-rewardbench")[0]


def same(votes: Matrix, table: ItemTable = MM_RLHF) -> str | None:
    found = same_as_baseline(votes.astype(np.int8), table)
    return None if found is None else found.id


def stored_first(different: float = 0.0, table: ItemTable = MM_RLHF) -> Matrix:
    """Return votes for the response stored first, but for a share of the pairs."""
    votes = always_first(table).copy()
    votes[: int(different * len(table))] = OTHER if votes[0, 0] == PREFERRED else 1
    return votes


@pytest.mark.parametrize(("different", "found"), [(0.0, FIRST), (0.02, FIRST), (0.03, None), (0.5, None)])
@pytest.mark.parametrize("table", [MM_RLHF, items()], ids=["mm-rlhf", "vl"])
def test_a_file_has_the_votes_of_a_baseline_if_two_percent_differ_and_no_more(
    table: ItemTable, different: float, found: str | None
) -> None:
    assert same(stored_first(different, table), table) == found


def test_neither_a_second_opinion_nor_pairs_left_out_hide_the_baseline() -> None:
    first, other = stored_first(), stored_first(1.0)
    assert same(np.hstack([first, other, first])) == FIRST
    assert same(np.hstack([other, first, other])) is None
    some = first.copy()
    some[::3] = UNDECIDED
    assert same(some) == FIRST
    some[LEAST_VOTES - 1 :] = UNDECIDED  # too few to say anything
    assert same(some) is None
    part = first.copy()
    part[60:] = ABSENT
    assert same(part) == FIRST


@pytest.mark.parametrize("table", [MM_RLHF, items()], ids=["mm-rlhf", "vl"])
def test_votes_are_those_of_a_baseline_if_the_first_of_each_pair_are_because_some_rules_take_it_alone(
    table: ItemTable,
) -> None:
    first, other = stored_first(table=table), stored_first(1.0, table)
    assert same(np.hstack([first, other]), table) == same(np.hstack([first, other, other]), table) == FIRST


@pytest.mark.parametrize("name", ["mm-rlhf-rewardbench", "multimodal-rewardbench"])
def test_always_the_longer_is_found_whatever_it_says_where_the_lengths_are_equal(name: str) -> None:
    table = labelled(name)[0]
    longer = always_longer(table)
    dice = np.random.default_rng(5)
    told = np.where((longer == 0) | (longer == 1), longer, dice.integers(0, 2, longer.shape))
    assert (longer == TIE).mean() > 1 - SAME_SHARE, "the example has ties enough to hide in"
    assert same(told, table) == LONGER


def test_what_a_file_says_of_responses_of_equal_length_does_not_matter() -> None:
    longer = always_longer(items())
    told = np.where(longer == UNDECIDED, 1, longer)
    assert same(longer, items()) == same(told, items()) == LONGER


def test_a_judge_that_is_right_on_nearly_all_pairs_is_no_baseline_where_the_label_is_not_the_order() -> None:
    table, labels = labelled("multimodal-rewardbench")
    assert same(labels.preferred[:, np.newaxis], table) is None


def test_votes_are_one_sided_with_few_exceptions() -> None:
    votes = np.zeros((100, 1), dtype=np.int8)
    assert is_one_sided(votes)
    votes[:2] = 1
    assert is_one_sided(votes)
    votes[:3] = 1
    assert not is_one_sided(votes)
    assert is_one_sided(np.hstack([1 - votes * 0, votes])), "the first vote of each is the same"
    assert is_one_sided(np.full((100, 1), TIE, dtype=np.int8))
    assert not is_one_sided(np.full((100, 1), UNDECIDED, dtype=np.int8))
    assert not is_one_sided(votes[3 : 3 + LEAST_VOTES - 1])
