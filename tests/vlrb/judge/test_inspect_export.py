"""The journal of a run as a log of inspect_ai: the service reads the same votes from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories.specs import VL
from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, Reply, completion, refusal, serving_model
from tests.vlrb.judge.running import item, run, write_items
from vlrb.benchmarks.items import build_table
from vlrb.predictions.parse import parse_predictions


def reply(_: str, body: Any, count: int) -> Reply:
    """Each vote is for the answer shown first, but one pair fails and one gets an empty reply."""
    text = body["messages"][0]["content"][0]["text"]
    if "number 3?" in text:
        return refusal(400, "no such thing")
    return completion("" if "number 4?" in text else JUDGEMENT.format(1))


@pytest.mark.parametrize("suffix", [".json", ".eval"])
@pytest.mark.parametrize("official", [True, False])
def test_the_log_says_the_same_as_the_predictions(tmp_path: Path, suffix: str, official: bool) -> None:
    rows = [item(number) for number in range(5)]
    rows.append({**item(4), "query": "Another question about number 5?"})  # an id twice
    items = write_items(tmp_path, rows)
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Q {query} 1 {a0} 2 {a1}. Overall Judgment: Answer X is better.")
    more = [] if official else ["--prompt", str(prompt)]
    with serving_model(reply) as server:
        assert run(server.url, items, tmp_path / "run", "--seed", "3", *more, votes=3) == 0
    log = tmp_path / f"log{suffix}"
    assert main(["export-inspect", str(tmp_path / "run"), str(log)]) == 0
    table = build_table(VL, {"v0": rows})
    ours = parse_predictions((tmp_path / "run" / "predictions.jsonl").read_bytes(), table)
    theirs = parse_predictions(log.read_bytes(), table)
    assert theirs.format == "inspect"
    assert theirs.votes.matrix.tolist() == ours.votes.matrix.tolist()
    assert theirs.behaviour == ours.behaviour
    assert {one.code for one in theirs.warnings} <= {one.code for one in ours.warnings}, "the ids are the items' own"
    assert "SECRET-LABEL" not in log.read_bytes().decode(errors="replace")


def test_a_run_of_scores_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = write_items(tmp_path, [item(1)])

    def score(*_: Any) -> Reply:
        return Reply(body={"data": [{"probs": [0.5]}]})

    with serving_model(score) as server:
        assert run(server.url, items, tmp_path / "run", "--api", "classify") == 0
    assert main(["export-inspect", str(tmp_path / "run"), str(tmp_path / "log.json")]) == 2
    assert "holds texts" in capsys.readouterr().err
    assert not (tmp_path / "log.json").exists()


def test_other_items_and_other_names_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = write_items(tmp_path, [item(1)])
    with serving_model(reply) as server:
        assert run(server.url, items, tmp_path / "run") == 0
    assert main(["export-inspect", str(tmp_path / "run"), str(tmp_path / "log.txt")]) == 2
    items.write_text(json.dumps(item(2)) + "\n")
    assert main(["export-inspect", str(tmp_path / "run"), str(tmp_path / "log.json")]) == 2
    said = capsys.readouterr().err
    assert ".eval" in said
    assert "--items" in said
