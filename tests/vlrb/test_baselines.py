"""Judges that cannot judge, and what they score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests import real_data
from tests.factories import labels
from tests.factories.specs import CATEGORIES, INVENTED, VL
from vlrb.baselines import (
    FIRST,
    LONGER,
    always_longer,
    board_majority,
    constant_judge_tallies,
    earlier_labels_tally,
)
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.benchmarks.labels import make_label_set
from vlrb.benchmarks.pairs import build_table, label_set, pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.protocols import scores

REVISIONS = {"v0": "items_v0.jsonl", "v2": "labels_v2.jsonl"}


def test_on_the_first_revision_always_first_is_nearly_always_right_and_always_longer_is_not():
    table = ItemTable.load(VL)
    preferred = {i: row["human_ranking"][0] for i, row in enumerate(real_data.rows("items_v0.jsonl"))}
    counted = constant_judge_tallies(make_label_set("v0", table, preferred=preferred, tags=None), table)
    assert round(100 * scores(counted[FIRST])["overall"], 1) == 99.6
    longer = counted[LONGER]
    assert longer.counts[:7, 0].sum() == 1250
    assert round(100 * scores(longer)["overall"], 1) == 40.7
    # With one half for equal lengths, as the rule of lmms-eval has it, these are the figures that go round.
    assert round(100 * scores(longer, "lmms-eval")["overall"], 1) == 43.2
    halves = [round(100 * (scores(longer, "lmms-eval")[category] or 0), 1) for category in CATEGORIES]
    assert halves == [37.4, 41.5, 50.8]


def test_perfect_answers_of_the_first_labels_are_not_perfect_by_later_ones():
    table = ItemTable.load(VL)
    known = {
        name: load_labels(real_data.real_file(f"data/{file}"), name, table=table) for name, file in REVISIONS.items()
    }
    counted = earlier_labels_tally(known["v2"], table, known=known)
    found = scores(counted)
    assert (round(found["overall"], 5), round(found["macro"], 5)) == (0.98717, 0.98239)
    assert earlier_labels_tally(known["v0"], table, known=known) is None


def test_on_mm_rlhf_the_preferred_response_stands_first_and_is_often_the_longer():
    pairs = read_pairs(real_data.rows("benchmarks/mm_rlhf_rewardbench.jsonl"), load_spec("mm-rlhf-rewardbench"))
    table = pair_table([pairs])
    counted = constant_judge_tallies(label_set(pairs.rows, pairs.edition, table=table), table)
    found = {name: scores(counted[name])["micro"] for name in (FIRST, LONGER)}
    assert found == {FIRST: 1.0, LONGER: pytest.approx(0.718, abs=5e-4)}


def test_always_longer_counts_words_and_leaves_equal_lengths_undecided():
    pairs = labels.pairs(1)
    texts = [("one two three", "onetwothreefour"), ("a", "b c"), ("same length", "length same")]
    for row, responses in zip(pairs, texts, strict=False):
        row["response"] = list(responses)
    assert always_longer(build_table(INVENTED, {"r1": pairs}))[:3, 0].tolist() == [0, 1, -1]


def slow_majority(verdicts):
    votes = []
    for column in verdicts.T.tolist():
        zero, one = column.count(0), column.count(1)
        votes.append(-2 if set(column) == {-2} else 0 if zero > one else 1 if one > zero else -1)
    return votes


shapes = st.tuples(st.integers(3, 6), st.integers(1, 8))


@given(arrays.arrays(np.int8, shapes, elements=st.integers(-2, 1)))
def test_the_majority_of_the_board_is_what_more_judges_prefer(verdicts):
    assert board_majority(verdicts)[:, 0].tolist() == slow_majority(verdicts)


def test_two_judges_are_no_board():
    assert board_majority(np.zeros((2, 4), dtype=np.int8)) is None
