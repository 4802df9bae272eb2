"""`score --benchmark`: files of official tools, and what they tell apart. Their counts: `test_equal_record.py`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.pair_files import (
    mm_rlhf_items,
    mm_rlhf_predictions,
    mmrb_items,
    mmrb_predictions,
    write_json,
    write_json_lines,
)
from vlrb.benchmarks.pairs import pair_table, read_pairs
from vlrb.benchmarks.spec import TIE
from vlrb.benchmarks.spec_file import load_spec
from vlrb.cli import main
from vlrb.readers import read_file
from vlrb.readers.base import ParsedFile
from vlrb.readers.problems import ProblemCollector
from vlrb.votes import UNDECIDED

MMRB, MM_RLHF = "multimodal-rewardbench", "mm-rlhf-rewardbench"
ITEMS = mmrb_items(240, seed=1)
QUESTIONS = mm_rlhf_items(seed=2)


def score(capsys: pytest.CaptureFixture[str], file: Path, labels: Path, benchmark: str, *more: str) -> dict[str, Any]:
    code = main(["score", str(file), "--benchmark", benchmark, "--labels", str(labels), "--json", *more])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    return dict(json.loads(shown.out))


def rejected(capsys: pytest.CaptureFixture[str], file: Path, labels: Path, benchmark: str, *more: str) -> str:
    code = main(["score", str(file), "--benchmark", benchmark, "--labels", str(labels), "--json", *more])
    shown = capsys.readouterr()
    assert code == 1 and shown.out == ""
    return shown.err


def read(records: list[dict[str, Any]], problems: ProblemCollector | None = None) -> ParsedFile:
    table = pair_table([read_pairs(ITEMS, load_spec(MMRB))])
    return read_file(json.dumps(records).encode(), problems or ProblemCollector(), table=table)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return write_json(tmp_path / "all_data.json", ITEMS)


@pytest.fixture
def named_labels(tmp_path: Path) -> Path:
    return write_json_lines(tmp_path / "mm_reward_bench.jsonl", QUESTIONS)


def test_repeated_ids_follow_the_responses_where_a_file_repeats_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, labels: Path
) -> None:
    lines = mmrb_predictions(ITEMS, 6)
    told = [
        {**line, "PredBetter": None, "Meta": {**line["Meta"], "Output1": item["Output1"], "Output2": item["Output2"]}}
        for line, item in zip(lines, ITEMS, strict=True)
    ]
    shuffled = random.Random(7).sample(told[1:-1], len(told) - 2)
    file = write_json_lines(tmp_path / "out.jsonl", [told[0], *shuffled, told[-1]])
    plain = write_json_lines(tmp_path / "plain.jsonl", lines)
    assert score(capsys, file, labels, MMRB)["tally"] == score(capsys, plain, labels, MMRB)["tally"]


FENCED = '```json\n{"better": "B", "final_verdict": "%s"}\n```'
REPLIES = {  # output, PredBetter -> verdict; None is unreadable: the tool's scorer draws, and its reader finds nothing
    (FENCED % "<answer>[[A]]</answer>", None): "A",  # its scorer takes brackets from a text that is no JSON
    (FENCED % "B", None): "B",
    ('Here it is: {"better": "A"}', None): "A",
    ('Here it is: {"better": "equal"}', None): "equal",
    ("The verdict is [[b]]", None): None,
    ("The verdict is [[b]]", "B"): "B",
    ('{"final_verdict": "B"}', None): None,
    ('{"final_verdict": "B"}', "B"): "B",
    ('Cut off: {"better": "Answer B is', None): None,
    ("", "A"): "A",
    ("", "equal"): "equal",
    ("", None): None,
    (None, None): None,
    (None, "B"): "B",
    ("[[A]]", "B"): "A",  # the judge's text comes before what was read from it
    ("", 1.5): None,
}


@pytest.mark.parametrize(("reply", "meant"), REPLIES.items(), ids=str)
def test_a_reply_of_omni_rrm_is_read_as_the_tool_reads_it(reply: tuple[Any, Any], meant: str | None) -> None:
    output, stated = reply
    record = {"ID": "1", "output": output, "PredBetter": stated, "Label": "A", "Meta": {}}
    found = read([record])
    assert found.format == "omni-rrm"
    assert list(found.rows[0].choices) == [{"A": 0, "B": 1, "equal": TIE, None: UNDECIDED}[meant]]


@pytest.mark.parametrize("lying", [False, True])
def test_responses_under_the_names_of_r1_reward_tell_rows_of_one_id_apart_and_names_do_not_decide(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, labels: Path, lying: bool
) -> None:
    dice, lines, right = random.Random(12), [], 0
    for item in ITEMS[:-1]:
        better, worse = sorted(("Output1", "Output2"), key=lambda name: name != item["Better"])
        names = ("rejected", "chosen") if lying else ("chosen", "rejected")
        rewards = dice.choice(([1, 0], [0, 1]))
        right += (rewards == [1, 0]) is not lying
        lines.append({"ID": item["ID"], names[0]: item[better], names[1]: item[worse], "rewards": rewards})
    dice.shuffle(lines)
    unique = write_json(tmp_path / "labels.json", ITEMS[:-1])
    card = score(capsys, write_json_lines(tmp_path / "r1.jsonl", lines), unique, MMRB)
    assert sum(tally["agree"] for tally in card["tally"].values()) == right


def test_a_call_that_gave_no_text_is_an_unreadable_reply_and_not_the_end_of_its_file() -> None:
    records = [{"ID": str(number), "output": text, "Meta": {}} for number, text in enumerate(("[[B]]", None, "[[A]]"))]
    assert [row.choices for row in read(records).rows] == [[1], [UNDECIDED], [0]]
    del records[1]["output"]
    problems = ProblemCollector()
    read(records, problems)
    assert problems.problem_count == 1


def test_one_id_with_the_same_responses_in_both_orders_is_two_pairs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    item = ITEMS[0]
    other = {"Output1": "Output2", "Output2": "Output1"}
    turned = {**item, "Output1": item["Output2"], "Output2": item["Output1"], "Better": other[item["Better"]]}
    labels = write_json(tmp_path / "labels.json", [item, turned])
    lines = [
        {"ID": row["ID"], "output": "[[A]]", "Meta": {name: row[name] for name in other}} for row in (turned, item)
    ]
    card = score(capsys, write_json_lines(tmp_path / "out.jsonl", lines), labels, MMRB)
    assert card["protocols"]["official"]["micro"] == 0.5


def test_rewards_count_the_same_with_the_texts_and_without(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, named_labels: Path
) -> None:
    lines = mm_rlhf_predictions(QUESTIONS, 0)
    bare = [{key: line[key] for key in ("id", "rewards")} for line in lines]
    whole, less = (
        score(capsys, write_json_lines(tmp_path / f"{len(told[0])}.jsonl", told), named_labels, MM_RLHF)
        for told in (lines, bare)
    )
    assert [whole[name] for name in ("tally", "groups", "protocols")] == [
        less[name] for name in ("tally", "groups", "protocols")
    ]
    assert whole["groups"]["mcq"]["n"] == 4


@pytest.mark.parametrize(
    ("record", "title"),
    [
        ({"ID": "pairs_1", "output": "[[A]]", "Meta": {"Category": "safety"}}, "Multimodal RewardBench"),
        ({"id": "RLAIF-V-1", "ranking": [0, 1], "meta": {}}, "VL-RewardBench"),
        ({"id": "RLHF-V-3", "image": "3.png", "rewards": [1, 0]}, "VL-RewardBench"),
    ],
)
def test_predictions_of_another_benchmark_are_recognised_by_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, named_labels: Path, record: dict[str, Any], title: str
) -> None:
    file = write_json_lines(tmp_path / "out.jsonl", [record])
    assert f"file of {title}, " in rejected(capsys, file, named_labels, MM_RLHF)


def test_the_edition_is_what_the_labels_hold_or_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, labels: Path
) -> None:
    file = write_json_lines(tmp_path / "out.jsonl", mmrb_predictions(ITEMS, 15))
    assert score(capsys, file, labels, MMRB)["label_revision"].startswith("part-")
    assert "not those of the edition released" in rejected(capsys, file, labels, MMRB, "--edition", "released")
    assert "known: released, paper" in rejected(capsys, file, labels, MMRB, "--edition", "2020")
