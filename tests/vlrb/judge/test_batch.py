"""Batch files go out and come back, in the shapes that the services write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, Reply, completion, refusal, serving_model
from tests.vlrb.judge.running import item, predictions, run, write_items
from vlrb.judge.batch_files import FileLimits, read_result, split

VLLM_RESULTS: list[dict[str, Any]] = [
    {
        "id": "vllm-383d1c59835645aeb2e07d004d62a826",
        "response": {
            "id": "cmpl-61c020e54b964d5a98fa7527bfcdd378", "object": "chat.completion", "created": 1715633336,
            "model": "m",
            "choices": [{
                "index": 0, "message": {"role": "assistant", "content": JUDGEMENT.format(2)},
                "logprobs": None, "finish_reason": "stop", "stop_reason": None,
            }],
            "usage": {"prompt_tokens": 25, "total_tokens": 83, "completion_tokens": 58},
        },
        "error": None,
    },
    {
        "id": "vllm-2f2e5d0b",
        "response": {
            "status_code": 200, "request_id": "vllm-batch-0b1c",
            "body": {
                "id": "chatcmpl-9", "object": "chat.completion", "created": 1715633336, "model": "m",
                "choices": [{
                    "index": 0, "message": {"role": "assistant", "reasoning_content": None, "content": "It is 1."},
                    "finish_reason": "stop",
                }],
                "usage": {"prompt_tokens": 10, "total_tokens": 13, "completion_tokens": 3},
            },
        },
        "error": None,
    },
]  # fmt: skip
"""A line of each shape that the documentation of `vllm run-batch` shows: the completion itself, or within `body`."""


def export(form: str, items: Path, output: Path, *more: str) -> list[dict[str, Any]]:
    options = ["--format", form, "--model", "m", "--items", str(items), "--votes", "2", "--output", str(output)]
    assert main(["batch", "export", *options, *more]) == 0
    files = sorted((output / "batch").glob(f"{form}-*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def chat_result(number: int, request: dict[str, Any], nested: bool) -> dict[str, Any]:
    body = completion(JUDGEMENT.format(1) if number else "").body
    response = {"status_code": 200, "request_id": "r", "body": body} if nested else body
    return {"id": str(number), "custom_id": request["custom_id"], "response": response, "error": None}


def message_result(number: int, request: dict[str, Any]) -> dict[str, Any]:
    content = [{"type": "text", "text": JUDGEMENT.format(1)}] if number else []
    message = {"content": content, "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 20}}
    return {"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": message}}


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path, [item(i) for i in range(3)])


@pytest.mark.parametrize("form", ["openai", "vllm", "vllm-flat", "anthropic"])
def test_requests_go_out_and_results_come_back(form: str, items: Path, tmp_path: Path) -> None:
    requests = export(form.partition("-")[0], items, tmp_path / "run")
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", request["custom_id"]) for request in requests)
    assert len({request["custom_id"] for request in requests}) == 6
    if form == "anthropic":
        results = [message_result(*pair) for pair in enumerate(requests)]
    else:
        results = [chat_result(*pair, nested=form != "vllm-flat") for pair in enumerate(requests)]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in reversed(results)))
    for _ in range(2):  # the second time nothing is new
        assert main(["batch", "import", str(tmp_path / "run"), str(path)]) == 0
    lines = predictions(tmp_path / "run")
    texts = [one["text"] for line in lines for one in line["judgements"]]
    assert texts == ["", *[JUDGEMENT.format(1)] * 5]
    assert lines[0]["run"]["usage"]["prompt_tokens"] == 600
    assert len((tmp_path / "run" / "journal.jsonl").read_text().splitlines()) == 6


def test_a_batch_request_is_the_one_of_a_run(items: Path, tmp_path: Path) -> None:
    (first, *_) = export("openai", items, tmp_path / "run", "--seed", "3")
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    with serving_model(lambda path, body, times: completion("x")) as model:
        assert run(model.url, items, tmp_path / "run", "--seed", "3", "--concurrency", "1", votes=2) == 0
    assert {**first["body"], "stream": False} == model.bodies[0]


def test_a_batch_request_leaves_out_what_the_model_has_refused(items: Path, tmp_path: Path) -> None:
    def refusing(path: str, body: Any, times: int) -> Reply:
        for name in ("temperature", "max_tokens"):
            if name in body:
                return refusal(400, f"Unsupported parameter: '{name}' is not supported.", param=name)
        return completion("x")

    with serving_model(refusing) as model:
        assert run(model.url, items, tmp_path / "run", "--limit", "1", votes=2) == 0
    body = export("openai", items, tmp_path / "run")[0]["body"]
    assert not {"temperature", "max_tokens"} & set(body) and body["max_completion_tokens"] == 2048
    message = export("anthropic", items, tmp_path / "run")[0]["params"]
    assert message["max_tokens"] == 2048 and "max_completion_tokens" not in message


def test_an_anthropic_request_holds_the_image_in_their_shape(items: Path, tmp_path: Path) -> None:
    (first, *_) = export("anthropic", items, tmp_path / "run")
    text, image = first["params"]["messages"][0]["content"]
    assert text["type"] == "text" and first["params"]["max_tokens"] == 2048
    assert first["params"]["temperature"] == 0.2 and "top_p" not in first["params"], "its newer models take one of them"
    assert (image["source"]["type"], image["source"]["media_type"]) == ("base64", "image/png")


def test_both_shapes_of_the_results_of_vllm_are_read(items: Path, tmp_path: Path) -> None:
    requests = export("vllm", items, tmp_path / "run")
    results = [
        {**VLLM_RESULTS[number % 2], "custom_id": request["custom_id"]} for number, request in enumerate(requests)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    assert main(["batch", "import", str(tmp_path / "run"), str(path)]) == 0
    lines = predictions(tmp_path / "run")
    assert [one["text"] for one in lines[0]["judgements"]] == [JUDGEMENT.format(2), "It is 1."]
    assert lines[0]["run"]["usage"] | {"cost": None} == {
        "requests": 6, "prompt_tokens": 3 * (25 + 10), "completion_tokens": 3 * (58 + 3), "reasoning_tokens": 0,
        "seconds_per_request": None, "cost": None, "wall_seconds": None,
    }  # fmt: skip


def test_what_failed_is_recorded_and_what_was_never_asked_stays_open(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = export("openai", items, tmp_path / "run")
    results = [chat_result(number, request, nested=True) for number, request in enumerate(requests)]
    results[1] |= {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
    results[2]["response"] = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    with monkeypatch.context() as terminal:
        terminal.setenv("LC_ALL", "zh_CN.UTF-8")
        assert main(["batch", "import", str(tmp_path / "run"), str(path)]) == 1
    assert "还有 1 个投票没有结果" in capsys.readouterr().out
    assert [one["custom_id"][:5] for one in export("openai", items, tmp_path / "run")] == ["r0-v1"]
    with serving_model(lambda path, body, times: completion("x")) as model:
        assert run(model.url, items, tmp_path / "run", votes=2) == 0
        assert len(model.asked) == 1
    failed = predictions(tmp_path / "run")[1]["judgements"][0]
    assert failed["text"] == "" and failed["reason"] == "too long"


def test_a_failure_that_is_imported_again_is_not_new(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = export("openai", items, tmp_path / "run")
    results = [chat_result(number, request, nested=True) for number, request in enumerate(requests)]
    results[2]["response"] = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in [*results, *results]))
    for _ in range(2):
        assert main(["batch", "import", str(tmp_path / "run"), str(path)]) == 0
    assert "0 of 12 results are new" in capsys.readouterr().out
    assert len((tmp_path / "run" / "journal.jsonl").read_text().splitlines()) == 6


def test_results_of_another_order_are_refused(items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    requests = export("openai", items, tmp_path / "run", "--order", "both")
    results = [chat_result(number, request, nested=True) for number, request in enumerate(requests)]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    export("openai", items, tmp_path / "other", "--order", "parity")
    assert main(["batch", "import", str(tmp_path / "other"), str(path)]) == 2
    assert "another run" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        {"response": {"status_code": "400", "body": []}},
        {"response": None, "error": {"code": ["batch_expired"]}},
        {"result": {"type": {"errored": 1}}},
        {
            "result": {
                "type": "succeeded",
                "message": {"content": [{"type": "text", "text": "\ud800"}], "stop_reason": {}},
            }
        },
    ],
)
def test_a_result_of_any_shape_is_an_answer_or_a_failure(items: Path, tmp_path: Path, line: dict[str, Any]) -> None:
    requests = export("openai", items, tmp_path / "run")
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps({"custom_id": one["custom_id"], **line}) + "\n" for one in requests))
    assert main(["batch", "import", str(tmp_path / "run"), str(path)]) == 0
    assert len(predictions(tmp_path / "run")) == 3


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"type": "succeeded", "message": None}, "the result has no message"),
        ({}, "the line has no result"),
        (
            {"type": "errored", "error": {"message": "the key sk-ant-api03-Secret1234567890 is not valid"}},
            "the key [key] is not valid",
        ),
    ],
)
def test_a_result_without_a_message_fails_with_a_reason_that_holds_no_key(result: dict[str, Any], reason: str) -> None:
    read = read_result({"custom_id": f"r0-v0-o-{'x' * 43}", "result": result})
    assert read is not None and read.fields == {"failed": True, "text": "", "reason": reason}


def test_files_stay_below_the_limits() -> None:
    lines = [b"x" * 10] * 5 + [b"y" * 25]
    assert [number for number, _ in split(lines, FileLimits(2, 100))] == [1, 1, 2, 2, 3, 3]
    assert [number for number, _ in split(lines, FileLimits(100, 30))] == [1, 1, 1, 2, 2, 3]
