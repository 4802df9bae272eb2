"""Files uploaded by mistake are named, with the file to upload instead."""

from __future__ import annotations

import bz2
import gzip
import json

import pandas
import pytest

from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.factories.specs import VL
from tests.vlrb.predictions.test_hostile import english_words, zipped
from vlrb.benchmarks.items import ItemTable
from vlrb.cli import main
from vlrb.predictions.parse import Problem, UploadRejected, build_report, parse_predictions

PAIRS = pairs(2)
SCORES = b'"hallucination","reasoning","general","Macro Accuracy","Overall Consistency"\n"0.5","0.4","0.6","0.5","0"\n'
QUESTIONS = b"index\tquestion\tA\tB\tanswer\n0\tWhich?\tx\ty\tA\n1\tWhere?\tx\ty\tB\n"
WORD = {"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"}


def only_problem(data: bytes, items: ItemTable | None = None) -> Problem:
    """Return the one sentence about a file."""
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(data, items or table(2))
    assert caught.value.problem_count == 1
    (found,) = caught.value.problems
    assert english_words(found.message) == []
    return found


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("This file is a PNG image.", "replies")),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", ("This file is a JPEG image.", "replies")),
        (b"RIFF\x10\0\0\0WEBPVP8 ", ("This is not a text file",)),
        (bz2.compress(b"{}"), ("a bzip2 file", "Unpack it")),
        (b"%PDF-1.7\n", ("This file is a PDF.", "replies")),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", ("a Git LFS pointer", "git lfs pull")),
        (b"", ("The file is empty.",)),
        (b"# Notes\n\nWe ran, and ran.\n- one\n- two\n", ("This is not a prediction file", "lmms-eval", "VLMEvalKit")),
        (b"some words\n" * 1_000, ("This is not a prediction file",)),
        (b"<!doctype html><title>404</title>\n<p>Not found", ("This is a web page",)),
        (SCORES, ("This is VLMEvalKit's score file", "MODEL_VL-RewardBench.xlsx")),
        (files.workbook([{"Macro Accuracy": "0.5", "general": "0.4"}]), ("This is VLMEvalKit's score file",)),
        (b"\x80\x04\x95\x01", ("Python pickle", "MODEL_VL-RewardBench.xlsx")),
        (QUESTIONS, ("response and prediction, as VLMEvalKit", "here it has index, question, A, B, answer.")),
        (b"name,score\na,1\nb,2\n", ("index, question, response and prediction", "here it has name, score.")),
        (b"{'id': 'a', 'votes': [0]}\n" * 40, ("Python dictionaries, not JSON", "json.dumps")),
        (zipped({"a.jsonl": b"{}", "b.jsonl": b"{}"}), ("This is a zip archive of 2 files. Unpack it",)),
        (zipped(WORD), ("This is a Word or PowerPoint file.",)),
        (gzip.compress(b"\x89PNG\r\n\x1a\n\0"), ("This file is a PNG image.",)),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, tuple) else "",
)
def test_a_wrong_file_is_named_in_one_sentence_with_what_to_upload(data: bytes, words: tuple[str, ...]) -> None:
    message = only_problem(data).message
    for word in words:
        assert word in message
    assert "column 1" not in message


def test_another_benchmark_is_one_sentence_with_three_examples() -> None:
    other = files.jsonl([{"id": f"mmbench-{number}", "votes": [0]} for number in range(50)])
    found = only_problem(other, ItemTable.load(VL))
    assert found.code == "other-benchmark"
    assert found.message.startswith("50 of the 50 rows are no pairs of VL-RewardBench. Take ids from the dataset")
    assert found.message.endswith("“mmbench-0” on line 1, “mmbench-1” on line 2, “mmbench-2” on line 3.")
    records = [{"index": n, "question": f"Which {n}?", "answer": "A", "prediction": "B"} for n in range(50)]
    assert "“Which 0?” on line 1" in only_problem(json.dumps(records).encode(), ItemTable.load(VL)).message


def test_a_missing_file_is_said_to_be_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "/no/such/file.jsonl"]) == 2
    assert capsys.readouterr().err == "/no/such/file.jsonl does not exist.\n"


@pytest.mark.parametrize("verdict", ["A", "[[B]]", "\\boxed{2}"])
def test_bare_verdicts_are_refused_with_the_line_to_write(verdict: str) -> None:
    rows = pairs(4)
    told = [
        only_problem(files.jsonl([{"id": row["id"], "pred": verdict} for row in rows]), table(4)),
        only_problem(f"{verdict}\n".encode() * len(rows), table(4)),
        only_problem(files.jsonl([{"id": row["id"], "verdict": verdict} for row in rows]), table(4)),
    ]
    replies = [{"id": row["id"], "judgements": [{"text": verdict, "swapped": False}]} for row in rows]
    report = build_report(parse_predictions(files.jsonl(replies), table(4)), "x")
    assert not report["ok"]
    for message in (*(problem.message for problem in told), report["problems"][0]["message"]):
        assert '{"id": "ID", "votes": [0]}' in message
        assert len(message) < 450
    applied = '{"id": "ID", "votes": [0]}'
    lines = "\n".join(applied.replace("ID", row["id"]) for row in rows)
    assert parse_predictions(lines.encode(), table(4)).items == len(rows)


GOOD = [{"id": row["id"], "votes": [number % 2]} for number, row in enumerate(PAIRS)]
SCORED = [{"id": row["id"], "scores": [0.7, 0.2]} for row in PAIRS]
SHOWN = [dict(zip(("ID", "Output1", "Output2"), (row["id"], *row["response"]), strict=True)) for row in PAIRS]
BY_ID = {f"{row['id']}-{copy}": [0] for row in PAIRS for copy in range(9)}
BY_COLUMN = pandas.DataFrame(GOOD).to_json().encode()
SUMMARY = {"results": {"vl_rewardbench": {"vlreward_score,none": 0.5}}, "configs": {}}
FLAGS = {"pred": 1, "acc": 1, "swap_pred": 0, "swap_acc": 1, "consistency": 1, "pair_acc": 1}
TABLE = "id,vote\n" + "".join(f"{row['id']},1\n" for row in PAIRS)
WRONG: dict[str, tuple[bytes, tuple[str, ...], bytes]] = {
    name: (data, words, applied if isinstance(applied, bytes) else files.jsonl(applied))
    for name, data, words, applied in (
        ("other fields", files.jsonl([{"index": 3, "choice": "x"}] * 4), ("`index`, `choice`", "`id` and"), GOOD),
        ("an object by id", json.dumps(BY_ID).encode(), (f"one object with {len(BY_ID)} fields", "one line"), GOOD),
        ("a list of words", b'["first", "second"]', ('The file holds "first"', "one line for each pair"), GOOD),
        ("lines of lists", b"[0, 1]\n[1, 0]\n", ("The file holds [0, 1].", "one line for each pair"), GOOD),
        ("one score", files.jsonl([{"id": "a", "score": 0.25}]), ("one number", '"scores": ['), SCORED),
        ("scores by label", b'{"chosen": -2.5, "rejected": 0.25}\n' * 30, ("These are 30 rows", "preferred"), SCORED),
        ("counted from 1", files.jsonl([{"id": row["id"], "votes": [2 - i % 2]} for i, row in enumerate(PAIRS)]),
         ("Subtract 1",), GOOD),
        ("cut off", files.jsonl(GOOD)[:-9], ("ends in the middle", "again"), GOOD),
        ("commas", files.jsonl(GOOD[:1]).strip() + b",\n", ("on a line of its own, with nothing after it",), GOOD),
        ("no choice", files.jsonl([{"id": row["id"], "pred": 1} for row in PAIRS[1:]] + [{"id": PAIRS[0]["id"]}]),
         ("`prediction` is missing",), GOOD),
        ("no winner", files.jsonl([row | {"winner": "A", "raw_response": ""} for row in PAIRS[1:]] + PAIRS[:1]),
         ("`winner` is missing",), GOOD),
        ("row numbers", files.jsonl([{"id": 7, "votes": [0]}]), ("as the dataset has it, not 7",), GOOD),
        ("no texts", files.jsonl([{"judgements": [{"swapped": True}], "id": "a"}]), ("[0].text` is missing",), GOOD),
        ("pandas by column", BY_COLUMN, ("orient='records'",), GOOD),
        ("mmr", files.jsonl([{"text": "Answer 1", "pred": [0, 1]}]), ("of mmr", "`id`"), GOOD),
        ("LWE without texts", files.jsonl([FLAGS] * 9), ("`ID`, `Output1`, `Output2`", "`votes`"),
         [row | FLAGS | {"response": "[[A]]"} for row in SHOWN]),
        ("summary", files.jsonl([SUMMARY]), ("tool's summary", "beside it"), GOOD),
        ("flags alone", files.jsonl([{"id": "a", "correct": True}]), ("which pairs were right", "`votes`"), GOOD),
        ("other columns", b"id,verdict\na,A\nb,B\n", ("id and vote",), TABLE.encode()),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_a_researcher_may_write_is_refused_by_what_it_holds_and_what_the_refusal_asks_for_is_read(
    name: str,
) -> None:
    data, words, applied = WRONG[name]
    message = only_problem(data).message
    for word in words:
        assert word in message
    assert parse_predictions(applied, table(2)).items == len(PAIRS)


@pytest.mark.parametrize(
    ("record", "nearest", "added"),
    [
        ({"id": 1, "best": 0}, "native JSONL: there is `id`, but no `votes / judgements / scores`", {"votes": [0]}),
        ({"preds": 1, "best": 1}, "ARM-Thinker: there is `preds`, but no", {"judge_result": {"model_choice": 1}}),
        ({"Output1": 1, "Output2": 1}, "LWE: there is `Output1`, `Output2`, but no", {"response": "so [[A]]"}),
    ],
)
def test_an_unknown_record_is_told_the_nearest_format_whose_missing_field_makes_it_readable(
    record: dict[str, object], nearest: str, added: dict[str, object]
) -> None:
    def lines(more: dict[str, object]) -> bytes:
        own = [{"id": row["id"], "preds": row["response"]} | one for row, one in zip(PAIRS, SHOWN, strict=True)]
        return files.jsonl([{name: row.get(name, value) for name, value in (record | more).items()} for row in own])

    found = only_problem(lines({}))
    assert found.code == "unknown-format" and f"The nearest is {nearest}" in found.message
    assert parse_predictions(lines(added), table(2)).items == len(PAIRS)
