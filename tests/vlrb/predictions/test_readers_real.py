"""Files of the real pairs: the official rule's counts, and what a file lacks. `test_equal_record.py` has the tools'."""

import gzip
import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from bench.official_rule import OfficialRow, category, official_counts, official_lines, vote_status
from tests.factories.specs import VL
from tests.real_data import real_file, rows
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions
from vlrb.protocols import has_unread_replies
from vlrb.scorecard import scorecard
from vlrb.scoring import tally

PUBLISHED = "predictions/vl-reward-model_qwen2vl7b_judge.json"


@cache
def items() -> ItemTable:
    """Return the real items."""
    return ItemTable.load(VL)


def score_v0(upload: Predictions) -> dict[str, Any]:
    """Return the scorecard of a file under the labels of v0."""
    labels = load_labels(real_file("data/items_v0.jsonl"), "v0", table=items())
    counted = tally(upload.votes, labels, table=items())
    return scorecard(counted, upload.behaviour, benchmark=VL.id, label_revision="v0")


def faultless_status(row: OfficialRow) -> str:
    """Return the official status, where an answer that is not there matches nothing."""
    return "doesntMatch" if "Answer 3 is better" in row["meta"]["filter_choice"] else vote_status(row)


@pytest.mark.parametrize("k", [1, 4])
def test_official_files_get_the_official_rule_s_counts(k: int) -> None:
    lines = list(official_lines(rows("items_v0.jsonl"), k, seed=k))
    card = score_v0(parse_predictions("".join(lines).encode(), items()))
    official = official_counts(map(json.loads, lines), category, status=faultless_status)
    for name, row in card["tally"].items():
        counted = official[name]
        assert (row["agree"], row["reject"]) == (counted["agree"], counted["reject"]), name
        assert row["undecided"] == counted["doesntMatch"] + counted["other"], name
    assert card["votes_per_item"] == k


@pytest.mark.parametrize(("lines", "told"), [(3, "votes for 1 of the 1,250 pairs"), (3720, "votes for 1,240 of the")])
def test_an_interrupted_run_is_told_how_many_pairs_it_has(lines: int, told: str) -> None:
    data = real_file("data/tools/official_k3.jsonl").read_bytes()
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(b"\n".join(data.split(b"\n")[:lines]), items())
    (problem,) = caught.value.problems
    assert problem.code == "missing-item"
    assert told in problem.message


def test_items_that_a_smaller_revision_lacks_are_absent_and_missing_under_the_larger_one() -> None:
    upload = parse_predictions(real_file(f"data/{PUBLISHED}").read_bytes(), items())
    absent = np.flatnonzero(upload.votes.matrix[:, 0] == -2)
    assert sorted(items().items[i].ids["v0"] for i in absent) == [
        "mathverse_2279",
        "wildvision-battle-545",
        "wildvision-battle-580",
    ]
    card = score_v0(upload)
    assert (card["items"], card["missing_items"]) == (1250, 3)
    assert sum(row["n"] - row["agree"] - row["reject"] - row["undecided"] for row in card["tally"].values()) == 3


def test_verdicts_that_only_the_tools_own_reading_finds_give_no_number_under_its_name() -> None:
    data = gzip.decompress(real_file("data/cases/28-vlmevalkit-short-verdicts/half.tsv.gz").read_bytes())
    behaviour = parse_predictions(data, items()).behaviour
    assert has_unread_replies(behaviour.parse_rate, behaviour.first_shown_rate)
