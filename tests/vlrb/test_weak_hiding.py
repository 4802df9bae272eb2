"""Number of scored submissions that disclose a sparse difference between a hidden label set and a public one."""

from __future__ import annotations

import math

import pytest

from tests.factories.specs import VL
from tests.real_data import real_file
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.disclosure import BY_CATEGORY, OVERALL_ONLY
from vlrb.weak_hiding import FIGURES, Overlap, bound, overlap, submissions_to_reveal


def test_one_label_among_eight_is_found_by_halving() -> None:
    assert bound([(8, 1)], BY_CATEGORY) == pytest.approx(3.0)


def test_a_worked_example_of_two_among_four() -> None:
    """Six ways; an answer is 0, 1 or 2 with 1/4, 1/2, 1/4: 1.5 bits."""
    assert bound([(4, 2)], BY_CATEGORY) == pytest.approx(math.log2(6) / 1.5)


def test_categories_are_asked_about_at_once_and_the_largest_number_decides() -> None:
    parts = [(183, 1), (749, 9), (318, 3)]
    assert bound(parts, BY_CATEGORY) == max(bound([part], BY_CATEGORY) for part in parts)
    assert bound(parts, OVERALL_ONLY) > bound([(1250, 13)], BY_CATEGORY) > bound(parts, BY_CATEGORY)


def test_where_nothing_differs_nothing_is_left_to_be_asked() -> None:
    assert bound([(183, 0), (749, 0)], BY_CATEGORY) == 0.0
    assert submissions_to_reveal(Overlap(((183, 0), (749, 0), (318, 0))), BY_CATEGORY) == FIGURES[0]


def test_more_than_nine_of_ten_is_weak_and_exactly_nine_of_ten_is_not() -> None:
    assert not Overlap(((10, 1), (20, 2), (70, 7))).weak
    assert Overlap(((10, 1), (20, 2), (71, 7))).weak
    assert not Overlap(((0, 0), (0, 0), (0, 0))).weak


def test_the_real_revisions_hide_little_of_one_another() -> None:
    table = ItemTable.load(VL)
    files = {"v0": "items_v0.jsonl", "v2": "labels_v2.jsonl"}
    sets = {name: load_labels(real_file(f"data/{file}"), name, table=table) for name, file in files.items()}
    found = overlap(sets["v2"], sets["v0"], table=table)
    assert sum(differing for _, differing in found.parts) == 16
    assert found.weak
    assert 25 < bound(found.parts, BY_CATEGORY) < 30 < 100 < bound(found.parts, OVERALL_ONLY)
    assert (submissions_to_reveal(found, BY_CATEGORY), submissions_to_reveal(found, OVERALL_ONLY)) == (50, 200)
    assert overlap(sets["v0"], sets["v2"], table=table) == found
