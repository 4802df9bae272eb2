"""A long run says how far it is and what it costs, slows down for an endpoint that is busy, and offers a smoke test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, ModelServer, completion, serving_model
from tests.vlrb.judge.running import item, predictions, write_items
from tests.vlrb.judge.test_batch import chat_result, export
from vlrb.judge.concurrency import AdaptiveConcurrency


def test_concurrency_grows_with_success_and_halves_once_for_the_refusals_of_a_moment() -> None:
    slots = AdaptiveConcurrency(32, asyncio.Event())
    assert slots.allowed == 8
    for _ in range(100):
        slots.succeeded()
    assert slots.allowed == 32, "never more than it may"
    for _ in range(5):
        slots.throttled(None)
    assert slots.allowed == 16
    for _ in range(16):
        slots.succeeded()
    assert slots.allowed == 17, "from now on one more for as many answers as are allowed"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving_model(lambda path, body, times: completion(JUDGEMENT.format(1))) as server:
        yield server


def test_results_of_a_batch_have_the_price_of_the_batch_service(tmp_path: Path) -> None:
    items, output = write_items(tmp_path, [item(i) for i in range(2)]), tmp_path / "run"
    requests = export("openai", items, output)
    results: list[dict[str, Any]] = [chat_result(1, request, nested=True) for request in requests]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    prices = ["--price-prompt", "500", "--price-reply", "1000"]
    assert main(["batch", "import", str(output), str(path), *prices]) == 0
    assert predictions(output)[0]["run"]["usage"]["cost"] == pytest.approx(4 * (100 * 500 + 20 * 1000) / 1e6)
