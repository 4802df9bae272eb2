"""Orientation of stored responses is never guessed: altered texts are oriented by what is left, or a problem."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.factories.prediction_files import Writer
from tests.factories.specs import INVENTED
from vlrb.benchmarks.pairs import build_table
from vlrb.predictions.parse import Predictions, UploadRejected, parse_predictions

PAIRS = pairs(2)
TABLE = table(2)
VOTES = [[(i * 5 // 3) % 2] for i in range(len(PAIRS))]

Record = dict[str, Any]


def records_of(write: Writer) -> list[Record]:
    """Return the records that a writer makes of VOTES."""
    return [json.loads(line) for line in write(PAIRS, VOTES).split(b"\n") if line]


def refused_field(records: list[Record]) -> str | None:
    """Return the field of the texts of a file of which each row is refused, with its line and id."""
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(files.jsonl(records), TABLE)
    assert caught.value.problem_count == len(records)
    assert all(problem.line and problem.id and "unchanged" in problem.message for problem in caught.value.problems)
    ((code, field),) = {(problem.code, problem.field) for problem in caught.value.problems}
    assert code == "text-unknown"
    return field


def oriented(records: list[Record]) -> Predictions:
    """Return a file whose votes are still VOTES, with the notice that tells of unknown texts."""
    upload = parse_predictions(files.jsonl(records), TABLE)
    assert upload.votes.matrix.tolist() == VOTES
    (warning,) = (warning for warning in upload.warnings if warning.code != "order-tells-label")
    assert warning.code == "text-unknown"
    assert warning.ids == tuple(row["id"] for row in PAIRS)
    return upload


def edit_pair(names: tuple[str, str]) -> Callable[[Record, int | None], None]:
    """Alters the texts under two names: both, or only one."""

    def edit(record: Record, which: int | None) -> None:
        for place, name in enumerate(names):
            if which in (None, place):
                record[name] += " ."

    return edit


def edit_response(record: Record, which: int | None) -> None:
    """Alters `response`: both texts, or only one."""
    holder = record.get("doc", record)
    holder["response"] = [t + " ." * (which in (None, place)) for place, t in enumerate(holder["response"])]


def edit_input(record: Record, which: int | None) -> None:
    """Alters the answers in a prompt: both, or only one."""
    if which in (None, 0):
        record["input"] = record["input"].replace("\n\nAnswer 2: ", " .\n\nAnswer 2: ")
    if which in (None, 1):
        record["input"] = record["input"].replace("\n\nPlease evaluate both", " .\n\nPlease evaluate both")


CASES: dict[str, tuple[Writer, Callable[[Record, int | None], None], str]] = {
    "r1-reward": (files.r1_reward, edit_pair(("chosen", "rejected")), "chosen"),
    "proxy-grm": (files.proxy_grm, edit_pair(("chosen", "rejected")), "chosen"),
    "omni-rrm": (files.omni_rrm, edit_response, "response"),
    "omni-rrm as shown": (lambda rows, votes: files.omni_rrm(rows, votes, as_shown=True), edit_response, "response"),
    "official": (files.official, edit_response, "response"),
    "two-score": (files.reward_model_exam, edit_pair(("response0", "response1")), "response0"),
    "lmms-eval 0.3": (files.lmms_eval_03, edit_response, "doc"),
    "lmms-eval": (files.lmms_eval, edit_input, "input"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_whose_texts_are_all_altered_is_refused_and_not_guessed(name: str) -> None:
    write, edit, field = CASES[name]
    records = records_of(write)
    for record in records:
        edit(record, None)
    assert refused_field(records) == field


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_one_response_that_is_known_tells_the_order(name: str, which: int) -> None:
    write, edit, _ = CASES[name]
    records = records_of(write)
    for record in records:
        edit(record, which)
    oriented(records)


def test_responses_edited_and_reversed_with_the_flag_flipped_are_no_inverted_votes() -> None:
    records = records_of(files.official)
    for record in records:
        record["response"].reverse()
        record["meta"]["random_number"] ^= 1
        edit_response(record, 0)
    oriented(records)
    for record in records:
        edit_response(record, 1)
    assert refused_field(records) == "response"


def test_texts_that_contradict_each_other_or_belong_to_another_item_are_refused() -> None:
    twice, others = records_of(files.official), records_of(files.official)
    for number, record in enumerate(twice):
        record["response"] = [PAIRS[number]["response"][0]] * 2
        others[number]["response"] = [PAIRS[number - 1]["response"][1], "foo"]
    assert refused_field(twice) == "response"
    assert refused_field(others) == "response"


def test_the_known_response_tells_apart_two_items_of_one_id() -> None:
    twins = [{**row, "id": PAIRS[i // 2]["id"], "query": "q"} for i, row in enumerate(PAIRS)]
    for i in range(1, len(twins), 2):
        twins[i]["response"] = [twins[i - 1]["response"][0], twins[i]["response"][1]]
    votes = [[i % 2] for i in range(len(twins))]
    records = [json.loads(line) for line in files.official(twins, votes).split(b"\n")]
    for record in records:
        edit_response(record, 0)
    upload = parse_predictions(files.jsonl(records[::-1]), build_table(INVENTED, {"r1": twins}))
    assert upload.votes.matrix.tolist() == votes
    assert [warning.code for warning in upload.warnings] == ["text-unknown"]


@pytest.mark.parametrize("cell", ["['foo', 'bar']", "['A cut ce", r"['foo', '\ud800']"])
def test_mangled_responses_of_vlmevalkit_are_a_notice_since_parity_tells_their_order(cell: str) -> None:
    dataset = pairs(5)
    votes = files.random_votes(len(dataset), 1)
    for number in (1, 8, 13):
        records = files.vlmevalkit_records(dataset, votes)
        records[number]["response"] = cell
        upload = parse_predictions(json.dumps(records).encode(), table(5))
        assert upload.votes.matrix.tolist() == votes
        (warning,) = upload.warnings
        assert (warning.code, warning.ids) == ("text-unknown", (dataset[number]["id"],))


def test_white_space_changed_in_responses_does_not_change_what_the_parity_rule_showed() -> None:
    for write in (files.vlmevalkit_records, files.lmms_records):
        records = write(PAIRS, VOTES)
        for row, record in zip(PAIRS, records, strict=True):
            changed = [row["response"][0] + "\n", row["response"][1]]
            if "response" in record:
                record["response"] = str(changed)
            else:
                record["doc"] = {"id": row["id"], "query": row["query"], "response": changed}
        assert parse_predictions(files.jsonl(records), TABLE).votes.matrix.tolist() == VOTES


def test_row_numbers_are_trusted_only_where_most_of_them_fit_the_texts() -> None:
    records = files.vlmevalkit_records(PAIRS, VOTES)
    for record in records[:7]:
        record["response"] = "['A cut ce"
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(json.dumps(records).encode(), TABLE)
    assert {problem.code for problem in caught.value.problems} == {"unknown-item", "missing-item"}
