"""From a file to its scores: what must not matter on the way, and the judges whose scores are known beforehand."""

from __future__ import annotations

import pytest

from tests.factories import labels
from tests.factories import prediction_files as files
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.protocols import scores
from vlrb.scoring import Tally, tally

PAIRS = labels.pairs(4)
TABLE = labels.table(4)
LABELS = labels.labels(TABLE, [(i * 7 + i // 3) % 2 for i in range(len(TABLE))])


def read(data: bytes) -> Predictions:
    return parse_predictions(data, TABLE)


def counted(data: bytes) -> Tally:
    return tally(read(data).votes, LABELS, table=TABLE)


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
