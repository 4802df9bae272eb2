"""Every format gives back the votes that were written into it, whatever else the file claims."""

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.factories.prediction_files import MANY_VOTES, ONE_VOTE, Writer
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions
from vlrb.readers import tables
from vlrb.readers.problems import ProblemCollector

PAIRS = pairs(2)
TABLE = table(2)


def votes_of(upload: Predictions) -> list[list[int]]:
    """Return the matrix as lists."""
    return [[int(vote) for vote in row] for row in upload.votes.matrix]


def read(data: bytes, items: ItemTable = TABLE) -> Predictions:
    """Return the upload; problems are shown by pytest."""
    try:
        return parse_predictions(data, items)
    except UploadRejected as rejection:
        raise AssertionError(rejection.problems[:5]) from rejection


WRITTEN = {f"{name}-{k}": (*case, k) for name, case in MANY_VOTES.items() for k in (1, 5, 16)} | {
    name: (*case, 1) for name, case in ONE_VOTE.items()
}


@pytest.mark.parametrize(("format", "write", "k"), WRITTEN.values(), ids=WRITTEN.keys())
def test_a_format_gives_back_the_votes_written(format: str, write: Writer, k: int) -> None:
    votes = files.random_votes(len(PAIRS), k)
    upload = read(write(PAIRS, votes))
    assert upload.format == format
    assert votes_of(upload) == votes
    assert (upload.items, upload.votes.k, upload.revision) == (len(PAIRS), k, "r1")


@given(st.randoms(use_true_random=False))
@settings(max_examples=6)
def test_permuting_lines_and_keys_never_changes_votes(dice: random.Random) -> None:
    votes = files.random_votes(len(PAIRS), 3, seed=1)
    for name, (_, write) in MANY_VOTES.items():
        lines = [json.loads(line) for line in write(PAIRS, votes).split(b"\n") if line]
        dice.shuffle(lines)
        shuffled = files.jsonl([files.shuffled(line, dice) for line in lines])
        read_votes = votes_of(read(shuffled))
        if name.startswith(("official", "omni")):  # K lines an item: their order is the order of the votes
            assert [sorted(row) for row in read_votes] == [sorted(row) for row in votes]
        else:
            assert read_votes == votes


def test_labels_flags_scores_and_categories_in_a_file_change_nothing() -> None:
    votes = files.random_votes(len(PAIRS), 2)
    lies = {
        "ranking": [1, 0], "human_ranking": [1, 0], "label": 1, "correct": False, "score": 0.0, "target": "[1, 0]",
        "ground_truth": [1, 0], "answer": "[1, 0]", "category": "reasoning", "flag_status": "reject",
        "__class__": "x", "constructor": {"prototype": 1},
    }  # fmt: skip
    for write in (files.native_votes, files.official, files.r1_reward, files.omni_rrm):
        records = [json.loads(line) for line in write(PAIRS, votes).split(b"\n") if line]
        assert votes_of(read(files.jsonl([{**record, **lies} for record in records]))) == votes


def test_null_lines_and_wrapped_lines_of_official_files_are_read() -> None:
    votes = files.random_votes(len(PAIRS), 2)
    records = files.official_records(PAIRS, votes)
    data = files.jsonl([None, *({"0": record} if i % 2 else record for i, record in enumerate(records)), None])
    upload = read(data)
    assert votes_of(upload) == votes
    assert [warning.code for warning in upload.warnings] == ["null-lines"]


def test_the_official_text_counts_and_not_the_stored_number() -> None:
    records = files.official_records(PAIRS, [[-1]] * len(PAIRS))
    for record in records:
        record["meta"].update(
            filter_number=1, flag_status="agree", filter_choice="Overall Judgment: Answer 3 is better."
        )
    upload = read(files.jsonl(records))
    assert (upload.votes.matrix == -1).all()
    assert upload.behaviour.parse_rate == 0.0
    assert upload.behaviour.first_shown_rate is None


def test_official_responses_in_reverse_order_are_recognised_by_their_texts() -> None:
    votes = files.random_votes(len(PAIRS), 1)
    records = files.official_records(PAIRS, votes)
    for record in records:
        record["response"].reverse()
    assert votes_of(read(files.jsonl(records))) == [[vote if vote < 0 else 1 - vote] for (vote,) in votes]


def test_the_recorded_choice_counts_and_differing_texts_are_reported() -> None:
    document = json.loads(files.vl_reward_model(PAIRS, [[0]] * len(PAIRS)))
    for result, text in zip(document["results"], ["A", "B", "My answer is B", "nonsense", "(A)"], strict=False):
        result["raw_output"] = text
    upload = read(json.dumps(document).encode())
    assert (upload.votes.matrix == 0).all()
    (warning,) = upload.warnings
    assert warning.code == "text-disagrees"
    assert "3 state" in warning.message
    assert warning.ids == tuple(row["id"] for row in PAIRS[1:4])


def test_r1_texts_that_say_the_other_are_reported() -> None:
    records = [json.loads(line) for line in files.r1_reward(PAIRS, [[0, 1]] * len(PAIRS)).split(b"\n") if line]
    for record in records:
        record["critic"] = [f"<think>..</think><answer>{1 + won[1]}</answer>" for won in record["rewards"]]
    assert [warning.code for warning in read(files.jsonl(records)).warnings] == ["order-tells-label"]
    records[3]["critic"][0] = "<answer> 2 </answer>" if records[3]["rewards"][0] == [1, 0] else "<answer>1</answer>"
    warning, _order = read(files.jsonl(records)).warnings
    assert (warning.code, warning.ids) == ("text-disagrees", (PAIRS[3]["id"],))


def test_a_reply_that_is_a_list_of_two_is_no_pair_of_scores() -> None:
    judged = {"model_choice": 1, "model_resp": ["first", ["second"]]}
    records = [{"question": row["query"], "preds": row["response"], "judge_result": judged} for row in PAIRS]
    assert read(files.jsonl(records)).margins is None
    huge = [{"id": row["id"], "scores": [10**300, 0]} for row in PAIRS]
    assert (read(files.jsonl(huge)).votes.matrix == 0).all()


def test_text_counts_where_lmms_eval_also_keeps_the_raw_reply() -> None:
    records = files.lmms_records(PAIRS, [[0]] * len(PAIRS))
    for record in records:
        record["resps"] = "<think>Therefore, Answer 1 is better. Therefore, Answer 2 is better.</think>"
    assert (read(files.jsonl(records)).votes.matrix == 0).all()


def test_what_excel_did_to_texts_is_undone_or_reported() -> None:
    votes = [[0]] * len(PAIRS)
    records = files.vlmevalkit_records(PAIRS, votes)
    good = [record["prediction"] for record in records]
    records[0]["prediction"] = "== Evaluation ==\n" + good[0]
    records[1]["prediction"] = good[1].replace("is better", "is\r\nbetter")
    records[2]["prediction"] = good[2].replace("is better", "is\x0bbetter")
    records[3]["prediction"] = ("x" * 40_000)[:32_767]
    records[4]["prediction"] = "Failed to obtain answer via API."
    upload = read(files.workbook(records))
    assert np.flatnonzero(upload.votes.matrix[:, 0] != 0).tolist() == [3, 4]
    assert {warning.code: warning.ids for warning in upload.warnings} == {
        "cut-cell": (PAIRS[3]["id"],),
        "failed-reply": (PAIRS[4]["id"],),
    }


def test_a_long_cell_of_a_table_is_read_whatever_table_came_before() -> None:
    cell, problems = "x" * 200_000, ProblemCollector()
    for text in ("index\tprediction\n0\ty\n", f"index\tprediction\n0\t{cell}\n"):
        ((_, record),) = tables.table_records(text.encode(), problems)
    assert record["prediction"] == cell


def test_a_cut_response_cell_is_found_by_its_row_number() -> None:
    votes = files.random_votes(len(PAIRS), 1)
    records = files.vlmevalkit_records(PAIRS, votes)
    records[5]["response"] = records[5]["response"][:-9]
    assert votes_of(read(json.dumps(records).encode())) == votes


def flagged(choice: str, *, wrong: int, flag: str = "correct") -> bytes:
    """Return a file of 28 pairs of which most first responses are preferred, with `correct` beside the choice.

    ``choice``: what `pred` is: "flag", or "index" of the response chosen.
    """
    records = []
    for number, row in enumerate(pairs(4)):
        preferred, right = int(number % 9 == 8), number >= wrong
        index = preferred if right else 1 - preferred
        records.append({"id": row["id"], "pred": int(right) if choice == "flag" else index, flag: right})
    return files.jsonl(records)


@pytest.mark.parametrize("flag", ["correct", "is_correct"])
def test_flags_of_being_right_in_place_of_votes_are_refused_and_the_chosen_index_is_read(flag: str) -> None:
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(flagged("flag", wrong=9, flag=flag), table(4))
    (problem,) = caught.value.problems
    assert (problem.code, caught.value.problem_count) == ("correctness-only", 1)
    assert "28 of 28 votes are the same as the field `correct`" in problem.message
    assert read(flagged("index", wrong=9, flag=flag), table(4)).items == 28


def test_votes_are_flags_also_where_a_few_differ_and_in_native_lines_and_tables() -> None:
    lines = [json.loads(line) for line in flagged("flag", wrong=9).splitlines()]
    lines[3]["pred"] = 1 - lines[3]["pred"]
    native_lines = [{"id": line["id"], "votes": [line["pred"]], "correct": line["correct"]} for line in lines]
    rows = "".join(f"{line['id']},{line['pred']},{line['correct']}\n" for line in lines)
    for data in (files.jsonl(lines), files.jsonl(native_lines), b"id,pred,correct\n" + rows.encode()):
        with pytest.raises(UploadRejected, match="27 of 28 votes are the same as the field `correct`"):
            parse_predictions(data, table(4))


@pytest.mark.parametrize("wrong", [0, 9, 20, 28])
def test_an_honest_file_with_flags_of_being_right_is_read_however_good_the_judge(wrong: int) -> None:
    assert read(flagged("index", wrong=wrong), table(4)).items == 28
