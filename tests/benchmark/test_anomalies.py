"""Patterns that somebody should look at: found where they are, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark import anomalies
from tests.factories.specs import CATEGORIES

ITEMS = 1250


def verdicts(entries: int, seed: int, *, items: int = ITEMS) -> np.ndarray:
    """Majority verdicts: 0, 1, undecided (-1) and absent (-2)."""
    return np.random.default_rng(seed).choice(np.array([0, 1, -1, -2], dtype=np.int8), size=(entries, items))


@pytest.mark.parametrize("items", [1, 63, 64, 65, 1247, 1250])
def test_packed_differences_are_those_of_a_plain_comparison(items: int) -> None:
    made = verdicts(40, seed=items, items=items)
    plain = np.where(made < 0, -1, made)  # undecided and absent are the same: no verdict
    packed = anomalies.pack_bits(made)
    for index in range(len(made)):
        assert anomalies.differing(packed[index], packed).tolist() == (plain != plain[index]).sum(axis=1).tolist()


@pytest.mark.parametrize(("flips", "near"), [(0, True), (1, True), (124, True), (125, False), (600, False)])
def test_fewer_than_a_tenth_of_the_items_is_a_near_duplicate(flips: int, near: bool) -> None:
    one = np.random.default_rng(flips).integers(0, 2, ITEMS).astype(np.int8)
    other = one.copy()
    other[:flips] = 1 - other[:flips]
    packed = anomalies.pack_bits(np.stack([one, other]))
    found = anomalies.nearest_duplicate(packed[0], packed[1:], items=ITEMS)
    assert found == ((0, flips, 1) if near else None)


def test_the_nearest_of_several_is_named_and_the_others_are_counted() -> None:
    one = np.zeros(ITEMS, dtype=np.int8)
    others = np.zeros((4, ITEMS), dtype=np.int8)
    for index, flips in enumerate((100, 30, 700, 30)):
        others[index, :flips] = 1
    packed = anomalies.pack_bits(others)
    assert anomalies.nearest_duplicate(anomalies.pack_bits(one[np.newaxis])[0], packed, items=ITEMS) == (1, 30, 3)
    assert anomalies.nearest_duplicate(packed[0], packed[:0], items=ITEMS) is None


def test_more_than_ten_points_above_the_best_known_strike_and_nothing_known_does_not() -> None:
    assert anomalies.is_far_above_best(0.8008, 0.70) == {"overall": 0.801, "best_known": 0.7}
    for percent in range(10, 91):  # exactly ten points, also where floats make a hair more of them
        assert anomalies.is_far_above_best((percent + 10) / 100, percent / 100) is None
    assert anomalies.is_far_above_best(0.99, None) is None
    assert anomalies.is_far_above_best(None, 0.5) is None


def by_category(*values: float | None) -> dict[str, float | None]:
    return dict(zip(CATEGORIES, values, strict=True))


def test_categories_that_are_all_but_equal_strike_unless_the_judge_guesses() -> None:
    assert anomalies.near_equal(0.9, by_category(0.9, 0.905, 0.901)) == {
        "general": 0.9,
        "hallucination": 0.905,
        "reasoning": 0.901,
    }
    assert anomalies.near_equal(0.9, by_category(0.9, 0.93, 0.901)) is None
    assert anomalies.near_equal(0.5, by_category(0.5, 0.501, 0.502)) is None
    assert anomalies.near_equal(0.9, by_category(0.9, None, 0.9)) is None


def test_texts_strike_by_their_share_and_files_without_texts_never() -> None:
    assert anomalies.identical_texts({"identical_rate": 0.9, "empty_rate": 0.0}, 5) == {
        "items_with_identical_texts": 0.9,
        "votes_per_item": 5,
    }
    assert anomalies.identical_texts({"identical_rate": 0.2, "empty_rate": 0.0}, 5) is None
    assert anomalies.identical_texts({"identical_rate": None, "empty_rate": 0.0}, 1) is None
    assert anomalies.empty_texts({"identical_rate": 0.0, "empty_rate": 0.2}) == {"empty_texts": 0.2}
    assert anomalies.empty_texts({"identical_rate": 0.0, "empty_rate": 0.01}) is None
    assert anomalies.identical_texts(None, 5) is None
    assert anomalies.empty_texts(None) is None


def test_limits_named_from_strike_where_they_are_reached_and_those_named_below_do_not() -> None:
    assert anomalies.identical_texts({"identical_rate": anomalies.IDENTICAL_FROM}, 5)
    assert anomalies.empty_texts({"empty_rate": anomalies.EMPTY_FROM})
    assert anomalies.near_equal(anomalies.EQUAL_FROM, by_category(0.6, 0.601, 0.602))
    for percent in range(60, 99):
        assert anomalies.near_equal(0.9, by_category(percent / 100, percent / 100, (percent + 1) / 100)) is None


@pytest.mark.parametrize(
    ("agree", "reject", "alike"),
    [(625, 625, True), (688, 562, False), (687, 563, True), (562, 688, False), (313, 312, True), (0, 0, False)],
)
def test_no_better_than_chance_is_within_five_points_of_half_of_what_is_decided(
    agree: int, reject: int, alike: bool
) -> None:
    assert anomalies.is_chance_level(agree, reject) is alike


def test_a_file_of_random_votes_is_recognised_and_a_judge_of_sixty_percent_never() -> None:
    dice = np.random.default_rng(0)
    for share, alike in ((0.5, True), (0.6, False)):
        found = [anomalies.is_chance_level(right, ITEMS - right) for right in dice.binomial(ITEMS, share, 300).tolist()]
        assert np.mean(np.array(found) == alike) > 0.99


def test_only_accounts_that_go_on_and_on_count_as_probing() -> None:
    assert anomalies.is_probing({"a": 5, "b": 6, "c": 12}) == (18, 2)
    assert anomalies.is_probing({}) == (0, 0)
