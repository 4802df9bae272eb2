"""From a file to its scores: what must not matter on the way, and the judges whose scores are known beforehand."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import labels
from tests.factories import prediction_files as files
from tests.factories.specs import GROUPINGS
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.protocols import scores
from vlrb.scorecard import scorecard
from vlrb.scoring import Tally, tally

PAIRS = labels.pairs(4)
TABLE = labels.table(4)
LABELS = labels.labels(TABLE, [(i * 7 + i // 3) % 2 for i in range(len(TABLE))])
K = 5


def read(data: bytes) -> Predictions:
    return parse_predictions(data, TABLE)


def counted(data: bytes) -> Tally:
    return tally(read(data).votes, LABELS, table=TABLE)


@given(st.randoms(use_true_random=False))
@settings(max_examples=settings().max_examples // 2)
def test_the_order_of_an_items_votes_changes_no_score_that_ranks(dice: random.Random) -> None:
    """Which vote came first is part of what a file says (two of the rules look at it, and so does the digest)."""
    votes = files.random_votes(len(PAIRS), K, seed=3)
    other = [dice.sample(row, K) for row in votes]
    one, two = (counted(files.native_votes(PAIRS, each)) for each in (votes, other))
    assert one.agreeing.tolist() == two.agreeing.tolist()
    for protocol in ("strict", "paper"):
        for grouping in GROUPINGS:
            assert scores(one, protocol, grouping=grouping) == scores(two, protocol, grouping=grouping)


@pytest.mark.parametrize("k", [1, 2, 16])
def test_a_judge_that_never_decides_scores_nothing_and_breaks_nothing(k: int) -> None:
    upload = read(files.native_votes(PAIRS, [[-1] * k] * len(PAIRS)))
    counts = tally(upload.votes, LABELS, table=TABLE)
    for grouping in GROUPINGS:
        strict = scores(counts, "strict", grouping=grouping)
        assert (strict["overall"], strict["macro"]) == (0.0, 0.0)
    card = scorecard(counts, upload.behaviour, benchmark="invented", label_revision="r1")
    json.dumps(card, allow_nan=False)
    assert (card["decided_rate"], card["parse_rate"]) == (0.0, 0.0)


def judging(answer: int, unparsed: int) -> bytes:
    """Say the same of every pair, shown either way round; of some it says nothing that can be read."""
    rows = []
    for place, pair in enumerate(PAIRS):
        text = "I cannot say." if place < unparsed else f"Overall Judgment: Answer {answer} is better."
        rows.append({"id": pair["id"], "judgements": [{"text": text, "swapped": bool(place % 2)}]})
    return files.jsonl(rows)


@pytest.mark.parametrize("unparsed", [0, 5, len(PAIRS)])
def test_always_the_first_and_always_the_second_add_up_to_what_could_be_read(unparsed: int) -> None:
    total = sum(scores(counted(judging(answer, unparsed)), "strict")["overall"] or 0.0 for answer in (1, 2))
    assert total == pytest.approx(1 - unparsed / len(PAIRS), abs=1e-12)
