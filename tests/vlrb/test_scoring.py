"""The counts are what a slow reading of the rule counts, item by item."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories.labels import labels, random_matrix, table
from tests.factories.specs import SLICES, VL
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet, make_label_set
from vlrb.scoring import LENGTHS, Tally, tally, tally_many
from vlrb.votes import ABSENT, Votes


def slow_counts(matrix: np.ndarray, truth: LabelSet, *, items: ItemTable, cell: str) -> Counter[str]:
    """Return one cell, one item at a time, in plain words."""
    counts: Counter[str] = Counter()
    for index, item in enumerate(items.items):
        label = int(truth.preferred[index])
        if label < 0:
            continue
        longer = item.words[label] - item.words[1 - label]
        names = {item.source, LENGTHS[0] if longer > 0 else LENGTHS[1] if longer < 0 else LENGTHS[2]}
        names |= truth.tags[index] if truth.tags is not None else set()
        if cell not in names:
            continue
        counts["n"] += 1
        votes = matrix[index].tolist()
        if votes[0] == ABSENT:
            continue
        agree, reject = votes.count(label), votes.count(1 - label)
        counts["agree" if agree > len(votes) / 2 else "reject" if reject > len(votes) / 2 else "undecided"] += 1
        counts["half_right"] += 2 * agree == len(votes)
        counts["first_agree" if votes[0] == label else "first_undecided" if votes[0] == -1 else "first_reject"] += 1
        counts[f"agreeing {agree}"] += 1
    return counts


def assert_counts_match(counted: Tally, matrix: np.ndarray, *, truth: LabelSet, items: ItemTable) -> None:
    for number, cell in enumerate(SLICES):
        expected = slow_counts(matrix, truth, items=items, cell=cell)
        assert counted.cell(cell) == {name: expected[name] for name in counted.cell(cell)}, cell
        assert counted.agreeing[number].tolist() == [expected[f"agreeing {a}"] for a in range(counted.k + 1)], cell


@settings(max_examples=60)
@given(
    st.integers(1, 16), st.integers(0, 10_000), st.booleans(), st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20))
)
def test_every_cell_is_counted_as_a_slow_reading_counts_it(
    k: int, seed: int, tags: bool, unlabelled: set[int], absent: set[int]
) -> None:
    items = table()
    full = labels(items, tags=tags)
    preferred = {i: int(value) for i, value in enumerate(full.preferred) if i not in unlabelled}
    held = None if full.tags is None else dict(enumerate(full.tags))
    truth = make_label_set("r1", items, preferred=preferred or {0: 1}, tags=held)
    matrix = random_matrix(len(items), k, seed=seed)
    matrix[sorted(absent)] = ABSENT
    assert_counts_match(tally(Votes(matrix), truth, table=items), matrix, truth=truth, items=items)


def test_counting_many_judges_at_once_is_counting_each() -> None:
    items, truth = table(), labels(table())
    many = np.stack([random_matrix(len(items), 5, seed=seed) for seed in range(7)])
    for matrix, together in zip(many, tally_many(many, truth, table=items), strict=True):
        assert together.to_json() == tally(Votes(matrix), truth, table=items).to_json()


def test_a_tally_survives_json() -> None:
    items = table()
    counted = tally(Votes(random_matrix(len(items), 3, seed=1)), labels(items), table=items)
    assert Tally.from_json(counted.to_json(), VL).to_json() == counted.to_json()


def test_votes_about_other_items_are_refused() -> None:
    with pytest.raises(ValueError, match="votes about 2 items"):
        tally(Votes(np.zeros((2, 1), dtype=np.int8)), labels(table()), table=table())


def test_two_against_two_with_one_undecided_is_undecided() -> None:
    items = table(1)
    matrix = np.tile(np.array([0, 0, 1, 1, -1], dtype=np.int8), (len(items), 1))
    counted = tally(Votes(matrix), labels(items), table=items)
    assert sum(counted.cell(source)["undecided"] for source in SLICES[:7]) == len(items)
