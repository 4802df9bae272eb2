"""Every rule has its own denominator, and only the ranking rule cannot be gamed by keeping silent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.labels import SIZES, labels, pairs, random_matrix, table
from tests.factories.prediction_files import jsonl
from tests.factories.specs import GROUPINGS, PROTOCOLS, VL
from vlrb.predictions.parse import parse_predictions
from vlrb.protocols import category_counts, scores
from vlrb.scoring import tally
from vlrb.votes import ABSENT, Votes


def test_the_three_groupings_have_the_sizes_in_circulation() -> None:
    items = table(SIZES)
    counted = tally(Votes(random_matrix(len(items), 1, seed=0)), labels(items), table=items)
    sizes = {g: category_counts(counted.counts, VL, grouping=g)[:, 0].tolist() for g in GROUPINGS}
    assert sizes == {
        "official": [183, 749, 318],
        "povid-in-general": [631, 301, 318],
        "rl-in-general": [484, 448, 318],
    }


def test_one_judge_under_the_four_rules() -> None:
    items = table(
        {"WildVision": 4, "POVID": 2, "MathVerse": 2, "VLFeedback": 0, "RLAIF-V": 0, "RLHF-V": 0, "MMMU-Pro": 0}
    )
    truth = labels(items, [0] * 8)
    right, wrong, unsure, late = [0, 0, 0], [1, 1, 1], [-1, -1, 0], [-1, 0, 0]
    votes = Votes(np.array([right, wrong, unsure, late, right, right, wrong, late], dtype=np.int8))
    counted = tally(votes, truth, table=items)
    by_rule = {p: scores(counted, p) for p in PROTOCOLS}
    assert (by_rule["strict"]["general"], by_rule["strict"]["overall"]) == (2 / 4, 5 / 8)
    assert (by_rule["paper"]["general"], by_rule["paper"]["overall"]) == (2 / 3, 5 / 7)
    assert (by_rule["vlmevalkit"]["general"], by_rule["vlmevalkit"]["overall"]) == (1 / 4, 3 / 8)
    assert (by_rule["lmms-eval"]["general"], by_rule["lmms-eval"]["overall"]) == (2 / 4, 4.5 / 8)
    assert by_rule["strict"]["macro"] == pytest.approx((2 / 4 + 1 + 1 / 2) / 3)


def test_an_item_that_the_file_lacks_is_wrong_under_fixed_denominators_and_absent_under_paper() -> None:
    items = table(1)
    matrix = np.zeros((len(items), 1), dtype=np.int8)
    matrix[0] = ABSENT
    counted = tally(Votes(matrix), labels(items, [0] * 7), table=items)
    expected = {"strict": 6 / 7, "paper": 1.0, "vlmevalkit": 6 / 7, "lmms-eval": 6 / 7}
    assert {rule: scores(counted, rule)["overall"] for rule in expected} == expected


def test_no_data_is_none_and_not_zero() -> None:
    items = table(1)
    silent = tally(Votes(np.full((7, 1), -1, dtype=np.int8)), labels(items), table=items)
    assert scores(silent, "paper")["overall"] is None and scores(silent, "paper")["macro"] is None
    assert scores(silent, "strict")["macro"] == 0.0 and scores(silent, "lmms-eval")["macro"] == 0.5


@given(st.integers(1, 7), st.integers(0, 10_000), st.integers(0, 20))
def test_abstaining_never_raises_the_ranking_score_and_answering_never_lowers_it(k: int, seed: int, item: int) -> None:
    items = table()
    truth = labels(items)
    matrix = random_matrix(len(items), k, seed=seed)
    silent = matrix.copy()
    silent[item] = -1
    answered = silent.copy()
    answered[item] = seed % 2
    before, without, after = (scores(tally(Votes(m), truth, table=items))["macro"] for m in (matrix, silent, answered))
    assert without <= before and after >= without


def test_the_paper_s_rule_is_raised_by_abstaining() -> None:
    items = table()
    truth = labels(items)
    matrix = (1 - truth.preferred).reshape(-1, 1).astype(np.int8)
    matrix[::2] = truth.preferred[::2].reshape(-1, 1)
    silent = np.where(matrix == truth.preferred.reshape(-1, 1), matrix, -1).astype(np.int8)
    assert scores(tally(Votes(silent), truth, table=items), "paper")["overall"] == 1.0
    assert scores(tally(Votes(matrix), truth, table=items), "paper")["overall"] < 0.6


@pytest.mark.parametrize("unparsed", [0, 5, 28])
def test_always_the_first_and_always_the_second_add_up_to_what_could_be_read(unparsed: int) -> None:
    """Each pair is shown either way round; of some a judge says nothing that can be read."""
    items, total = table(4), 0.0
    truth = labels(items, [(i * 7 + i // 3) % 2 for i in range(len(items))])
    for answer in (1, 2):
        rows = []
        for place, pair in enumerate(pairs(4)):
            text = "I cannot say." if place < unparsed else f"Overall Judgment: Answer {answer} is better."
            rows.append({"id": pair["id"], "judgements": [{"text": text, "swapped": bool(place % 2)}]})
        votes = parse_predictions(jsonl(rows), items).votes
        total += scores(tally(votes, truth, table=items), "strict")["overall"] or 0.0
    assert total == pytest.approx(1 - unparsed / len(items), abs=1e-12)
