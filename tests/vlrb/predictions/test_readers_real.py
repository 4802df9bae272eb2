"""The files that real tools wrote give exactly the votes their judges cast."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from bench.official_rule import category, faultless_status, official_counts, official_lines
from tests.factories.specs import VL
from tests.real_data import real_file, rows
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions
from vlrb.scorecard import scorecard
from vlrb.scoring import tally

TOOLS = {
    "official_k3.jsonl": ("official", "v1"),
    "officialold_k3.jsonl": ("official", "v0"),
    "lmms_035.jsonl": ("lmms-eval", "v1"),
    "lmms_061.jsonl": ("lmms-eval", "v1"),
    "lmms_head.jsonl": ("lmms-eval", "v1"),
    "vlmeval_json.json": ("vlmevalkit", "v1"),
    "vlmeval_tsv.tsv": ("vlmevalkit", "v1"),
    "vlmeval_xlsx.xlsx": ("vlmevalkit", "v1"),
    "vlmeval_xlsxv03.xlsx": ("vlmevalkit", "v1"),
}
PUBLISHED = "predictions/vl-reward-model_qwen2vl7b_judge.json"


@cache
def items() -> ItemTable:
    """Return the real items."""
    return ItemTable.load(VL)


@cache
def real_upload(name: str) -> Predictions:
    """Return a file of ../shared/data, read."""
    return parse_predictions(real_file(f"data/{name}").read_bytes(), items())


def score_v0(upload: Predictions) -> dict[str, Any]:
    """Return the scorecard of a file under the labels of v0."""
    labels = load_labels(real_file("data/items_v0.jsonl"), "v0", table=items())
    counted = tally(upload.votes, labels, table=items())
    return scorecard(counted, upload.behaviour, benchmark=VL.id, label_revision="v0")


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_s_file_gives_the_votes_and_the_first_shown_rate_of_its_judge(name: str) -> None:
    upload = real_upload(f"tools/{name}")
    told = real_file(f"data/tools/{name.split('.')[0]}.votes.jsonl").read_text().split("\n")
    cast = [json.loads(line)["votes"] for line in told if line]
    assert (upload.format, upload.revision) == TOOLS[name]
    wanted = [
        [(vote["verdict"] - 1) ^ vote["swapped"] if vote["verdict"] in (1, 2) else -1 for vote in votes]
        for votes in cast
    ]
    read_votes = upload.votes.matrix[list(items().in_revision(upload.revision))]
    assert len(wanted) == len(read_votes) == 1250
    assert np.array_equal(np.sort(read_votes, axis=1), np.sort(np.array(wanted), axis=1))
    if upload.votes.k == 1:
        assert np.array_equal(read_votes, np.array(wanted))
    verdicts = [vote["verdict"] for votes in cast for vote in votes]
    decided = [verdict for verdict in verdicts if verdict in (1, 2)]
    assert upload.behaviour.parse_rate == pytest.approx(len(decided) / len(verdicts))
    assert upload.behaviour.first_shown_rate == pytest.approx(decided.count(1) / len(decided))


@pytest.mark.parametrize("k", [1, 4, 5])
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
    upload = real_upload(PUBLISHED)
    absent = np.flatnonzero(upload.votes.matrix[:, 0] == -2)
    assert sorted(items().items[i].ids["v0"] for i in absent) == [
        "mathverse_2279",
        "wildvision-battle-545",
        "wildvision-battle-580",
    ]
    card = score_v0(upload)
    assert (card["items"], card["missing_items"]) == (1250, 3)
    assert sum(row["n"] - row["agree"] - row["reject"] - row["undecided"] for row in card["tally"].values()) == 3
