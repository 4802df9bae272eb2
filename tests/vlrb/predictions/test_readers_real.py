"""The files that real tools wrote, and two that others published, give exactly the votes their judges cast."""

import json
from functools import cache

import numpy as np
import pytest

from tests.factories.specs import VL
from tests.real_data import real_file, rows
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions

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


@cache
def items() -> ItemTable:
    """Return the real items."""
    return ItemTable.load(VL)


@cache
def real_upload(name: str) -> Predictions:
    """Return a file of ../shared/data, read."""
    return parse_predictions(real_file(f"data/{name}").read_bytes(), items())


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_s_file_gives_the_votes_of_its_judge(name: str) -> None:
    upload = real_upload(f"tools/{name}")
    cast = [
        json.loads(line)
        for line in real_file(f"data/tools/{name.split('.')[0]}.votes.jsonl").read_text().split("\n")
        if line
    ]
    assert (upload.format, upload.revision) == TOOLS[name]
    wanted = [
        [(vote["verdict"] - 1) ^ vote["swapped"] if vote["verdict"] in (1, 2) else -1 for vote in row["votes"]]
        for row in cast
    ]
    read_votes = upload.votes.matrix[list(items().in_revision(upload.revision))]
    assert len(wanted) == len(read_votes) == 1250
    assert np.array_equal(np.sort(read_votes, axis=1), np.sort(np.array(wanted), axis=1))
    if upload.votes.k == 1:
        assert np.array_equal(read_votes, np.array(wanted))


@pytest.mark.parametrize("name", TOOLS)
def test_first_shown_rates_are_those_of_the_judge(name: str) -> None:
    upload = real_upload(f"tools/{name}")
    cast = [
        json.loads(line)
        for line in real_file(f"data/tools/{name.split('.')[0]}.votes.jsonl").read_text().split("\n")
        if line
    ]
    verdicts = [vote["verdict"] for row in cast for vote in row["votes"]]
    decided = [verdict for verdict in verdicts if verdict in (1, 2)]
    assert upload.behaviour.parse_rate == pytest.approx(len(decided) / len(verdicts))
    assert upload.behaviour.first_shown_rate == pytest.approx(decided.count(1) / len(decided))


def test_the_published_judge_is_right_on_538_of_1247_and_its_14_texts_without_a_choice_are_reported() -> None:
    upload = real_upload("predictions/vl-reward-model_qwen2vl7b_judge.json")
    assert (upload.format, upload.revision, upload.items) == ("vl-reward-model", "v2", 1247)
    assert _right_wrong_undecided(upload) == (538, 709, 0)
    (warning,) = upload.warnings
    assert warning.code == "text-disagrees"
    assert "14 state no choice" in warning.message
    assert "0 state another" in warning.message


def test_the_published_reward_model_has_four_undecided_ties() -> None:
    upload = real_upload("predictions/vl-reward-model_qwen2vl7b_reward.json")
    assert (upload.format, upload.revision, upload.items) == ("vl-reward-model", "v2", 1247)
    assert _right_wrong_undecided(upload) == (826, 417, 4)
    assert upload.warnings == ()


def _right_wrong_undecided(upload: Predictions) -> tuple[int, int, int]:
    preferred = np.array([row["human_ranking"].index(0) for row in rows("labels_v2.jsonl")])
    votes = upload.votes.matrix[list(items().in_revision("v2")), 0]
    return int((votes == preferred).sum()), int((votes == 1 - preferred).sum()), int((votes == -1).sum())


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (3, "votes for 1 pair. It must have votes for every pair of one revision (1,247 to 1,250, depending"),
        (1500, "votes for 500 pairs. It must"),
        (2100, "no votes for 550 of the 1,250 pairs of revision v1"),
        (3720, "no votes for 10 of the 1,250 pairs of revision v1"),
    ],
)
def test_an_interrupted_run_gets_its_revisions_name_where_it_has_most_of_it(lines: int, told: str) -> None:
    data = real_file("data/tools/official_k3.jsonl").read_bytes()
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(b"\n".join(data.split(b"\n")[:lines]), items())
    (problem,) = caught.value.problems
    assert problem.code == "missing-item"
    assert told in problem.message
    assert ("revision v" in problem.message) == (lines > 1875)


def test_absent_items_of_a_smaller_revision_are_marked_absent() -> None:
    upload = real_upload("predictions/vl-reward-model_qwen2vl7b_judge.json")
    absent = np.flatnonzero(upload.votes.matrix[:, 0] == -2)
    assert sorted(items().items[i].ids["v0"] for i in absent) == [
        "mathverse_2279",
        "wildvision-battle-545",
        "wildvision-battle-580",
    ]
