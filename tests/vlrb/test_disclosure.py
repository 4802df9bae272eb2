"""Disclosure levels: the counts of a judge that each leaves, and their precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.specs import SCORES, SLICES, VL
from vlrb.disclosure import (
    BY_CATEGORY,
    HIDDEN,
    PUBLIC,
    RoundedScore,
    category_steps,
    gain_of,
    half_point,
    merged,
    redact,
    redact_counts,
    rounded_scores,
    shown_scores,
    strictest,
)
from vlrb.protocols import scores
from vlrb.scoring import FIELDS, Tally
from vlrb.statistics.uncertainty import wilson

ROWS = st.lists(
    st.tuples(*[st.integers(0, 300)] * 3, st.integers(0, 5)), min_size=7, max_size=7
)  # agree, reject, undecided, missing of each source


def _tally(rows: list[tuple[int, int, int, int]]) -> Tally:
    counts = np.zeros((len(SLICES), len(FIELDS)), dtype=np.int64)
    for cell, (agree, reject, undecided, missing) in enumerate(rows):
        counts[cell] = (agree + reject + undecided + missing, agree, reject, undecided, agree, reject, undecided, 0)
    return Tally(1, counts, agreeing=np.zeros((len(SLICES), 2), dtype=np.int64), has_tags=True, spec=VL)


@given(ROWS)
def test_the_overall_that_is_left_is_the_true_one_to_half_a_point(rows: list[tuple[int, int, int, int]]) -> None:
    whole = _tally(rows)
    n, agree = (int(whole.counts[:7, FIELDS.index(name)].sum()) for name in ("n", "agree"))
    left = redact(whole, HIDDEN)
    if not n:
        assert scores(left)["overall"] is None
        return
    told = shown_scores(whole, HIDDEN)["overall"]
    assert told == ((400 * agree + n) // (2 * n)) / 200  # half up, in whole numbers
    overall = scores(left)["overall"]
    assert overall is not None
    assert half_point(overall) == told
    assert (left.counts >= 0).all()


@given(ROWS, st.permutations(range(7)), st.integers(-3, 3))
def test_what_is_left_depends_on_the_rounded_overall_and_on_what_needs_no_label(
    rows: list[tuple[int, int, int, int]], order: list[int], moved: int
) -> None:
    """Right answers change places among the sources, and a few become wrong or wrong ones right."""
    other = [list(rows[at]) for at in order]
    for row in other:
        change = max(-row[0], min(moved, row[1]))
        row[0], row[1] = row[0] + change, row[1] - change
    one, two = _tally(rows), _tally([(a, r, u, m) for a, r, u, m in other])
    if shown_scores(one, HIDDEN) == shown_scores(two, HIDDEN):
        assert np.array_equal(redact(one, HIDDEN).counts, redact(two, HIDDEN).counts)
        assert np.array_equal(redact(one, HIDDEN).agreeing, redact(two, HIDDEN).agreeing)


@given(ROWS)
def test_what_is_left_of_categories_rounds_to_what_is_shown(rows: list[tuple[int, int, int, int]]) -> None:
    whole = _tally(rows)
    left = redact(whole, BY_CATEGORY)
    assert shown_scores(left, BY_CATEGORY) == shown_scores(whole, BY_CATEGORY)
    assert (left.counts >= 0).all()
    again = redact(left, BY_CATEGORY)
    assert np.array_equal(left.counts, again.counts), "a function of what is shown"


def test_each_level_tells_less_than_the_one_before() -> None:
    whole = _tally(
        [(10, 5, 1, 0), (20, 9, 0, 0), (7, 7, 0, 2), (300, 111, 0, 0), (50, 40, 2, 0), (90, 1, 0, 0), (3, 8, 0, 0)]
    )
    full, coarse, overall = (shown_scores(whole, level) for level in (PUBLIC, BY_CATEGORY, HIDDEN))
    assert {name for name in SCORES if coarse[name] is not None} == {"overall", *VL.category_keys}
    assert overall == dict.fromkeys(SCORES) | {"overall": coarse["overall"]} != full
    assert redact(whole, PUBLIC) is whole


def test_categories_are_as_coarse_as_the_decoder_asks() -> None:
    steps = category_steps([181, 748, 318])
    assert [found.step for found in steps] == [5.0, 0.5, 5.0]
    assert steps[0].gain > 2 > max(steps[1].gain, steps[2].gain)
    assert gain_of(BY_CATEGORY, [181, 748, 318]) == steps[0].gain > gain_of(HIDDEN, [181, 748, 318])


def test_of_two_statements_about_a_label_set_the_stricter_holds() -> None:
    assert strictest() == PUBLIC
    assert merged({"v2": HIDDEN, "v3": PUBLIC}, {"v2": BY_CATEGORY, "v4": BY_CATEGORY}) == {
        "v2": HIDDEN,
        "v3": PUBLIC,
        "v4": BY_CATEGORY,
    }


@pytest.mark.parametrize("agree", [0, 1, 624, 700, 1246, 1247])
def test_the_interval_holds_that_of_every_overall_that_rounds_to_the_same(agree: int) -> None:
    n = 1247
    told = _overall(agree, n)
    for other in range(n + 1):
        if _overall(other, n).share == told.share:
            exact = wilson(other, n)
            assert told.low <= exact.low
            assert exact.high <= told.high
    assert [round(200 * end, 9) % 1 for end in (told.low, told.high)] == [0, 0]


def _overall(agree: int, n: int) -> RoundedScore:
    return rounded_scores(_tally([(agree, n - agree, 0, 0)]).counts, HIDDEN, spec=VL)["overall"]


@pytest.mark.parametrize("level", [BY_CATEGORY, HIDDEN])
def test_entries_are_compared_by_public_figures_alone(level: str) -> None:
    first = _tally([(100, 80, 0, 0)] * 7).counts
    second = first.copy()
    second[0, 1:3] += (1, -1)
    assert not np.array_equal(first, second)
    left = redact_counts(np.stack([first, second]), level, spec=VL)
    assert np.array_equal(left[0], left[1])
