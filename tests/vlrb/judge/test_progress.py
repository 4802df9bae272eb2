"""A long run says how far it is and what it costs, slows down for an endpoint that is busy, and offers a smoke test."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, ModelServer, Reply, completion, serving_model
from tests.vlrb.judge.running import item, predictions, run, write_items
from tests.vlrb.judge.test_batch import chat_result, export
from vlrb.judge.commands import run_command
from vlrb.judge.concurrency import AdaptiveConcurrency
from vlrb.judge.endpoint import Endpoint
from vlrb.judge.progress import ProgressLine, duration
from vlrb.judge.totals import Prices, RunTotals

PAIRS, VOTES = 125, 4  # 500 answers: long enough for the offer
FEW = 25  # pairs, where the offer comes earlier
SMOKE_TEST = 20 * VOTES


def test_the_line_tells_rate_time_left_tokens_and_cost() -> None:
    totals = RunTotals(answers=290, failed=10, prompt_tokens=1_000_000, completion_tokens=500_000)
    line = ProgressLine(1000, 100, prices=Prices(2.0, 8.0), stream=io.StringIO()).line(totals, 7, seconds=100.0)
    # 200 of this start in 100 s, so the 700 that are left take 350 s
    parts = ["300 of 1,000 (30%)", "2.0/s", "5 min 50 s left", "1,500,000 tokens", "cost $6.00", "10 failed"]
    assert line == ", ".join([*parts, "7 in flight"])
    assert [duration(seconds) for seconds in (5, 65, 3900)] == ["5 s", "1 min 05 s", "1 h 05 min"]


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


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Iterator[None]:
    """Put a terminal, at which somebody has typed, in place of standard input and error."""
    person, program = pty.openpty()
    os.write(person, typed.encode())
    try:
        with open(program, closefd=False) as reads, open(program, "w", closefd=False) as writes:
            monkeypatch.setattr(sys, "stdin", reads)
            monkeypatch.setattr(sys, "stderr", writes)
            yield
            monkeypatch.undo()
    finally:
        os.close(person)
        os.close(program)


@pytest.mark.parametrize(
    ("pairs", "typed", "asked", "code"), [(PAIRS, "\nn\n", SMOKE_TEST, 1), (FEW, "bla\nY\nyes\n", FEW * VOTES, 0)]
)
def test_a_long_run_in_a_terminal_offers_a_smoke_test_first(
    model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: int, typed: str, asked: int, code: int
) -> None:
    monkeypatch.setattr(run_command, "_LONG", min(run_command._LONG, pairs * VOTES))
    items = write_items(tmp_path, [item(i) for i in range(pairs)])
    prices = ["--price-prompt", str(1000 * PAIRS / pairs), "--price-reply", "0"]
    with terminal(monkeypatch, typed):
        assert run(model.url, items, tmp_path / "run", *prices, votes=VOTES) == code
    assert len(model.asked) == asked, "what the smoke test has asked is not asked again"
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert (report["parse_rate"], report["cost_of_all"]) == (1.0, pytest.approx(50.0)), "of the whole run"


def test_ctrl_d_at_the_question_ends_the_command_and_nothing_is_asked(
    model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = write_items(tmp_path, [item(i) for i in range(PAIRS)])
    with terminal(monkeypatch, "bla\n\x04"):
        assert run(model.url, items, tmp_path / "run", votes=VOTES) == 1
    assert model.asked == []


@pytest.mark.parametrize("late", ["the last answer", "closing"])
def test_ctrl_c_late_in_the_smoke_test_ends_the_command_and_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    def answer(path: str, body: Any, times: int) -> Reply:
        if late == "the last answer" and len(model.asked) == SMOKE_TEST:
            os.kill(os.getpid(), signal.SIGINT)
        return completion(JUDGEMENT.format(1))

    async def close(endpoint: Endpoint) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await original(endpoint)

    original = Endpoint.close
    if late == "closing":
        monkeypatch.setattr(Endpoint, "close", close)
    items = write_items(tmp_path, [item(i) for i in range(PAIRS)])
    with serving_model(answer) as model, terminal(monkeypatch, "y\ny\n"):
        assert run(model.url, items, tmp_path / "run", votes=VOTES) == 130
    assert len(model.asked) == SMOKE_TEST


def test_results_of_a_batch_have_the_price_of_the_batch_service(tmp_path: Path) -> None:
    items, output = write_items(tmp_path, [item(i) for i in range(2)]), tmp_path / "run"
    requests = export("openai", items, output)
    results: list[dict[str, Any]] = [chat_result(1, request, nested=True) for request in requests]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    prices = ["--price-prompt", "500", "--price-reply", "1000"]
    assert main(["batch", "import", str(output), str(path), *prices]) == 0
    assert predictions(output)[0]["run"]["usage"]["cost"] == pytest.approx(4 * (100 * 500 + 20 * 1000) / 1e6)
