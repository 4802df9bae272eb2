"""Scores: from vLLM's and SGLang's endpoints, and from a Python function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import Reply, serving_model
from tests.vlrb.judge.running import item, predictions, run, write_items


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path, [item(i) for i in range(3)])


def length_of(body: Any) -> float:
    """A reward model that likes long responses."""
    given = body.get("documents") or body["messages"][1]["content"]
    return float(len(given.split("\n")[-1]))


def classified(path: str, body: Any, times: int) -> Reply:
    data = [{"index": 0, "label": "LABEL_0", "probs": [length_of(body)], "num_classes": 1}]
    return Reply(body={"object": "list", "data": data, "usage": {"prompt_tokens": 7}})


def scored(path: str, body: Any, times: int) -> Reply:
    return Reply(body={"data": [{"index": 0, "object": "score", "score": length_of(body)}]})


@pytest.mark.parametrize(("api", "answer"), [("classify", classified), ("score", scored)])
def test_each_response_has_its_raw_score(items: Path, tmp_path: Path, api: str, answer: Any) -> None:
    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--api", api) == 0
    assert {asked for asked, _, _ in model.asked} == {f"/{api}"} and len(model.asked) == 6
    assert all(("documents" in body) == (api == "score") for body in model.bodies)
    assert all(body["use_activation"] is False for body in model.bodies)
    expected = [[[float(len(text)) for text in item(i)["response"]]] for i in range(3)]
    assert [line["scores"] for line in predictions(tmp_path / "run")] == expected


def test_a_pair_without_a_score_is_undecided_with_its_reason(items: Path, tmp_path: Path) -> None:
    def answer(path: str, body: Any, times: int) -> Reply:
        bad = "not 1" in str(body)
        return Reply(body={"data": [{"probs": [0.1, 0.9]}]}) if bad else classified(path, body, times)

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--api", "classify", "--attempts", "2") == 0
    line = predictions(tmp_path / "run")[1]
    assert line["scores"] == [[8.0, None]]
    (reason,) = line["reasons"]
    assert "2 numbers a response" in reason


SCORERS = """
calls = []

def score(image, query, response):
    calls.append(response)
    assert image.size == (1, 1)
    if query.endswith("2?"):
        raise RuntimeError("no memory")
    return len(response)
"""


@pytest.fixture
def scorers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "tiny_scorers.py").write_text(SCORERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "tiny_scorers"


def call(items: Path, output: Path, scorer: str, *more: str) -> int:
    return main(["run", "--scorer", scorer, "--model", "m", "--items", str(items), "--output", str(output), *more])


def test_a_function_scores_responses(items: Path, tmp_path: Path, scorers: str) -> None:
    import tiny_scorers  # type: ignore[import-not-found]

    for _ in range(2):
        assert call(items, tmp_path / "run", f"{scorers}:score") == 0
    assert len(tiny_scorers.calls) == 6, "recorded scores are not computed again"
    lines = predictions(tmp_path / "run")
    assert lines[0]["scores"] == [[float(len(text)) for text in item(0)["response"]]]
    assert lines[2]["scores"] == [[None, None]] and lines[2]["reasons"][0] == "RuntimeError: no memory"


@pytest.mark.parametrize("name", ["nothing", "gone_module:score", "tiny_scorers:gone", "torn_scorer:score"])
def test_a_function_that_is_not_there_is_named(items: Path, tmp_path: Path, scorers: str, name: str) -> None:
    (tmp_path / "torn_scorer.py").write_text("def score(")
    assert call(items, tmp_path / "run", name) == 2
    assert call(items, tmp_path / "run", f"{scorers}:score", "--base-url", "http://127.0.0.1:9/v1") == 2
