"""The synthetic benchmark has the real one's shape, and its judges come through the real readers as they were made."""

from collections import Counter
from functools import cache

import numpy as np

from tests.factories.specs import SIZES
from vlrb.demo import JUDGES, SAMPLE, demo_archive, demo_items, demo_labels, demo_pairs
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.protocols import scores
from vlrb.scoring import tally

pairs = cache(demo_pairs)
items = cache(lambda: demo_items(pairs()))
labels = cache(lambda: demo_labels(pairs(), items()))


@cache
def uploads() -> dict[str, Predictions]:
    """By letter, read from the judges' bytes."""
    names = [name for name in demo_archive().namelist() if name.startswith(f"{JUDGES}/judge-")]
    return {name[len(f"{JUDGES}/judge-")]: parse_predictions(demo_archive().read(name), items()) for name in names}


def test_it_has_the_sizes_of_the_real_benchmark():
    assert Counter(row["source"] for row in pairs()) == SIZES
    assert Counter(row["category"] for row in pairs()) == {"general": 183, "hallucination": 749, "reasoning": 318}


def test_every_file_is_read_by_its_own_reader_and_one_shows_the_preferred_response_first():
    found = {letter: (upload.format, upload.votes.k, upload.items) for letter, upload in uploads().items()}
    assert found == {
        "a": ("native", 5, 1250),
        "b": ("r1-reward", 5, 1250),
        "c": ("official", 3, 1250),
        "d": ("two-score", 1, 1250),
        "e": ("native", 5, 1250),
        "f": ("two-score", 1, 1250),
    }
    told = {(letter, warning.code) for letter, upload in uploads().items() for warning in upload.warnings}
    assert told == {("b", "order-tells-label")}


def test_the_file_to_try_the_commands_with_is_another_judge_than_those_on_the_board():
    sample = parse_predictions(demo_archive().read(SAMPLE), items())
    assert sample.votes.matrix.shape[0] == len(pairs())
    assert not any(np.array_equal(sample.votes.matrix, other.votes.matrix) for other in uploads().values())
    assert 0.6 < scores(tally(sample.votes, labels(), table=items()))["macro"] < 0.9
