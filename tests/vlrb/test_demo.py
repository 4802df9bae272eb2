"""The synthetic benchmark has the real one's shape, and its judges come through the real readers as they were made."""

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest

from tests.factories.specs import DEMO, SIZES
from vlrb.behaviour import Behaviour
from vlrb.benchmarks.items import ItemTable
from vlrb.demo import JUDGES, SAMPLE, demo_archive, demo_items, demo_label_rows, demo_labels, demo_pairs
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.protocols import scores
from vlrb.scoring import tally

pairs = cache(demo_pairs)
items = cache(lambda: demo_items(pairs()))
labels = cache(lambda: demo_labels(pairs(), items()))
LETTERS = "abcdef"


@cache
def uploads() -> dict[str, Predictions]:
    """By letter, read from the judges' bytes."""
    names = [name for name in demo_archive().namelist() if name.startswith(f"{JUDGES}/judge-")]
    return {name[len(f"{JUDGES}/judge-")]: parse_predictions(demo_archive().read(name), items()) for name in names}


@cache
def strict(letter: str):
    return scores(tally(uploads()[letter].votes, labels(), table=items()))


def test_it_has_the_sizes_of_the_real_benchmark():
    assert Counter(row["source"] for row in pairs()) == SIZES
    assert Counter(row["category"] for row in pairs()) == {"general": 183, "hallucination": 749, "reasoning": 318}


def test_the_manifest_holds_no_text_and_no_label_and_comes_back():
    manifest = json.loads(json.dumps(items().to_json()))
    assert ItemTable.from_json(manifest, DEMO).items == items().items
    text = json.dumps(manifest)
    assert "human_ranking" not in text
    assert pairs()[0]["query"] not in text
    assert set(demo_label_rows(pairs())[0]) == {"id", "human_ranking", "human_error_analysis"}


def test_sixty_pairs_have_a_picture():
    pictures = [name for name in demo_archive().namelist() if name.startswith("pictures/")]
    assert len(pictures) == 60
    assert {name.removeprefix("pictures/").removesuffix(".png") for name in pictures} < {row["id"] for row in pairs()}


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


def test_the_board_has_a_leader_a_guesser_and_habits_that_show():
    macro = {letter: strict(letter)["macro"] for letter in LETTERS}
    assert max(macro, key=lambda letter: macro[letter]) == "a"
    assert macro["a"] == pytest.approx(0.72, abs=0.03)
    assert macro["f"] == pytest.approx(0.50, abs=0.03)
    behaviour: dict[str, Behaviour] = {letter: upload.behaviour for letter, upload in uploads().items()}
    assert behaviour["c"].first_shown_rate > 0.7
    assert behaviour["a"].first_shown_rate < 0.6
    assert behaviour["e"].parse_rate < 0.75
    assert strict("d")["hallucination"] > strict("a")["hallucination"]
    assert strict("d")["general"] < strict("a")["general"] - 0.1
    hesitant = tally(uploads()["e"].votes, labels(), table=items())
    assert scores(hesitant, "paper")["macro"] > scores(hesitant)["macro"] + 0.2


def test_the_file_to_try_the_commands_with_is_another_judge_than_those_on_the_board():
    sample = parse_predictions(demo_archive().read(SAMPLE), items())
    assert sample.votes.matrix.shape[0] == len(pairs())
    assert not any(np.array_equal(sample.votes.matrix, other.votes.matrix) for other in uploads().values())
    assert 0.6 < scores(tally(sample.votes, labels(), table=items()))["macro"] < 0.9
