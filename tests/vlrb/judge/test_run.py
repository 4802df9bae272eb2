"""A run over real sockets: what is asked, what is recorded, and what happens when things go wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories.specs import VL
from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, ModelServer, Reply, completion, refusal, serving_model
from tests.vlrb.judge.running import PNG, item, predictions, run, write_items
from vlrb.benchmarks.pairs import build_table
from vlrb.cli import command_line
from vlrb.judge.journal import busy_seconds
from vlrb.judge.prompts import find_prompt
from vlrb.judge.submit import describe_run
from vlrb.predictions.parse import parse_predictions

KEY = "sk-this-is-a-secret-key"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving_model(lambda path, body, times: completion(JUDGEMENT.format(1))) as server:
        yield server


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path, [item(i) for i in range(6)])


def test_a_request_is_the_official_one_as_json(model: ModelServer, items: Path, tmp_path: Path) -> None:
    assert run(model.url, items, tmp_path / "run", "--limit", "1") == 0
    (path, body, headers), (judgement,) = model.asked[0], predictions(tmp_path / "run")[0]["judgements"]
    image = "data:image/png;base64," + base64.b64encode(PNG).decode()
    one = item(0)
    text = find_prompt("official").render(one["query"], one["response"], swapped=judgement["swapped"])
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer EMPTY"
    assert body == {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": text},
                    {"type": "image_url", "image_url": {"url": image}},
                ],
            }
        ],
        "temperature": 0.2,
        "top_p": 0.2,
        "max_tokens": 2048,
        "stream": False,
    }


def test_a_run_writes_native_predictions_with_what_it_was(model: ModelServer, items: Path, tmp_path: Path) -> None:
    assert run(model.url, items, tmp_path / "run", "--seed", "5", votes=3) == 0
    lines = predictions(tmp_path / "run")
    assert [line["id"] for line in lines] == [f"RLAIF-V-{i}" for i in range(6)]
    assert {len(line["judgements"]) for line in lines} == {3}
    about = lines[0]["run"]
    assert (about["seed"], about["order"], about["votes"]) == (5, "random", 3)
    assert about["prompt"]["sha256"] == hashlib.sha256(find_prompt("official").template.encode()).hexdigest()
    assert about["usage"]["requests"] == 18 and about["usage"]["prompt_tokens"] == 1800
    assert set(about["engine"]) == {"openai", "tenacity"}


def test_a_submission_states_what_the_run_has_used(model: ModelServer, items: Path, tmp_path: Path) -> None:
    prices = ("--price-prompt", "1", "--price-reply", "2")
    assert run(model.url, items, tmp_path / "run", *prices, votes=3) == 0
    about = predictions(tmp_path / "run")[0]["run"]
    assert about["usage"]["wall_seconds"] > 0
    stated = describe_run(about)
    known = {name: stated[name] for name in ("tokens_in", "tokens_out", "price_usd")}
    assert known == {"tokens_in": "1800", "tokens_out": "360", "price_usd": "0.00252"}
    assert float(stated["wall_seconds"]) == about["usage"]["wall_seconds"]
    assert "benchmark" not in stated
    assert set(stated) <= set(vars(command_line("submit").parse_args(["FILE", "--model", "m"])))
    assert describe_run({**about, "api": "scorer"})["judge_type"] == "scalar"
    assert describe_run({**about, "benchmark": "next-bench"})["benchmark"] == "next-bench"
    bare = describe_run({**about, "usage": {**dict.fromkeys(about["usage"]), "requests": 18}})
    assert not {"tokens_in", "tokens_out", "price_usd", "wall_seconds"} & set(bare)


def test_time_counts_while_a_request_is_in_flight_and_no_pause_between_starts(tmp_path: Path) -> None:
    spans = ((10.0, 4.0), (12.0, 4.0), (100.0, 2.5), (101.0, 0.0))  # when it ended, how long it took
    lines = [{"row": 0, "vote": n, "time": at, "seconds": took} for n, (at, took) in enumerate(spans)]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert busy_seconds(tmp_path / "journal.jsonl") == 8.5


def test_no_label_is_sent_or_kept(model: ModelServer, items: Path, tmp_path: Path) -> None:
    assert run(model.url, items, tmp_path / "run") == 0
    kept = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert "SECRET-LABEL" not in kept + json.dumps(model.bodies) and "human_ranking" not in kept


def test_the_key_goes_to_the_endpoint_alone(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def answer(path: str, body: Any, times: int) -> Reply:
        if "number 2" in str(body):
            return refusal(400, f"This key is odd: {KEY}")
        return Reply(raw=f"Bearer {KEY}".encode()) if "number 1" in str(body) else completion(f"I got {KEY}.")

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run") == 0
    assert {headers["authorization"] for _, _, headers in model.asked} == {f"Bearer {KEY}"}
    kept = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert KEY not in kept + "".join(capfd.readouterr()) and "This key is odd: [key]" in kept
    assert "I got [key]." in kept and "the reply is not JSON: 'Bearer [key]'" in kept


@pytest.mark.parametrize("secret", ["http://me:sk-secret@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=sk-secret"])
def test_an_address_with_a_key_is_refused_and_written_nowhere(items: Path, tmp_path: Path, secret: str) -> None:
    assert run(secret, items, tmp_path / "run") == 2
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"sk-secret" in content for content in written)


def test_every_fault_that_passes_is_retried(items: Path, tmp_path: Path) -> None:
    faults = {
        "number 0": Reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "0.3"}),
        "number 1": Reply(500, {"error": {"message": "oops"}}),
        "number 2": Reply(after=3, body={}),
        "number 3": Reply(raw=b"not json"),
        "number 4": Reply(body={"choices": []}),
        "number 5": Reply(raw=b"{" * 1000, cut=True),
    }

    def answer(path: str, body: Any, times: int) -> Reply:
        fault = next(fault for words, fault in faults.items() if words in str(body))
        return completion(JUDGEMENT.format(2)) if times else fault

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--timeout", "1", "--order", "parity") == 0
    assert [line["judgements"][0]["text"] for line in predictions(tmp_path / "run")] == [JUDGEMENT.format(2)] * 6
    assert set(Counter(json.dumps(body) for body in model.bodies).values()) == {2}


def test_nothing_is_sent_before_the_time_that_an_endpoint_asks_for_has_passed(items: Path, tmp_path: Path) -> None:
    came: list[float] = []

    def answer(path: str, body: Any, times: int) -> Reply:
        came.append(time.monotonic())
        if len(came) == 1:
            return Reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "0.5"})
        return completion("x")

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--concurrency", "2") == 0
    assert sum(at - came[0] < 0.5 for at in came) <= 3, "what was in flight then, and no further one"


def test_a_vote_that_fails_for_good_is_empty_with_its_reason(items: Path, tmp_path: Path) -> None:
    def answer(path: str, body: Any, times: int) -> Reply:
        return Reply(500, {"error": {"message": "always"}}) if "number 3" in str(body) else completion("x")

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--attempts", "2", votes=2) == 0
        judgements = predictions(tmp_path / "run")[3]["judgements"]
        assert [(one["text"], one["reason"]) for one in judgements] == [("", "HTTP 500: always")] * 2
        model.answer = lambda path, body, times: completion(JUDGEMENT.format(1))
        asked = len(model.asked)
        assert run(model.url, items, tmp_path / "run", "--attempts", "2", votes=2) == 0
        assert len(model.asked) == asked
        assert run(model.url, items, tmp_path / "run", "--retry-failed", votes=2) == 0
        assert len(model.asked) == asked + 2
    assert predictions(tmp_path / "run")[0]["run"]["usage"]["requests"] == len(model.asked)
    assert [one["text"] for one in predictions(tmp_path / "run")[3]["judgements"]] == [JUDGEMENT.format(1)] * 2


@pytest.mark.parametrize("content", [None, ""])
def test_empty_content_is_an_answer_and_is_not_asked_again(items: Path, tmp_path: Path, content: str | None) -> None:
    with serving_model(lambda path, body, times: completion(content, "length")) as model:
        assert run(model.url, items, tmp_path / "run") == 0
        assert run(model.url, items, tmp_path / "run", "--retry-failed") == 0
        assert len(model.asked) == 6
        (judgement,) = predictions(tmp_path / "run")[0]["judgements"]
        assert judgement["text"] == "" and judgement["reason"] == "empty content (finish reason: length)"
        model.answer = lambda path, body, times: completion(JUDGEMENT.format(1))
        assert run(model.url, items, tmp_path / "run", "--retry-empty") == 0
        assert len(model.asked) == 12
    first = predictions(tmp_path / "run")[0]
    assert first["judgements"][0]["text"] == JUDGEMENT.format(1)
    used = first["run"]["usage"]
    assert (used["requests"], used["completion_tokens"]) == (12, 240), "those of the empty replies stay counted"


def test_a_wrong_key_stops_the_run_and_records_nothing(items: Path, tmp_path: Path) -> None:
    with serving_model(lambda path, body, times: refusal(401, "Incorrect API key")) as model:
        assert run(model.url, items, tmp_path / "run", "--concurrency", "2") == 1
    assert not (tmp_path / "run" / "predictions.jsonl").exists()
    assert (tmp_path / "run" / "journal.jsonl").read_text() == ""


def test_an_endpoint_that_is_down_stops_the_run(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_model(lambda path, body, times: completion("x")) as model:
        url = model.url
    assert run(url, items, tmp_path / "run", "--attempts", "2") == 1
    assert "does not answer" in capsys.readouterr().out


def test_a_redirect_is_not_followed_so_pairs_and_key_stay_with_the_endpoint(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = Reply(307, {}, headers={"Location": f"{model.url}/chat/completions"})
    with serving_model(lambda path, body, times: elsewhere) as first:
        assert run(first.url, items, tmp_path / "run") == 1
    assert model.asked == []
    assert f"redirected to {model.url}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        (completion(JUDGEMENT.format(1) + "\0 end"), JUDGEMENT.format(1) + "\ufffd end", ""),
        (refusal(400, "no \ud800 \x1b[2J\0 here"), "", "HTTP 400: no \ufffd \ufffd[2J\ufffd here"),
        (completion("cut here \ud83d", "length"), "cut here ?", ""),
        (completion(None, "st\ud800p"), "", "empty content (finish reason: st\ufffdp)"),
    ],
)
def test_characters_that_no_file_may_hold_cost_nothing_else(
    items: Path, tmp_path: Path, reply: Reply, text: str, reason: str
) -> None:
    with serving_model(lambda path, body, times: reply) as model:
        assert run(model.url, items, tmp_path / "run", "--limit", "1") == 0
    (judgement,) = predictions(tmp_path / "run")[0]["judgements"]
    assert (judgement["text"], judgement.get("reason", "")) == (text, reason)


def test_a_text_that_the_service_would_refuse_is_left_out_and_its_vote_stays(items: Path, tmp_path: Path) -> None:
    def answer(path: str, body: Any, times: int) -> Reply:
        return completion("word " * 20_000 * ("number 2" in str(body)) + JUDGEMENT.format(2))

    with serving_model(answer) as model:
        assert run(model.url, items, tmp_path / "run", "--order", "both", votes=2) == 0
    lines = predictions(tmp_path / "run")
    assert lines[2]["votes"] == [1, 0]
    table = build_table(VL, {"v0": [item(i) for i in range(6)]})
    read = parse_predictions((tmp_path / "run" / "predictions.jsonl").read_bytes(), table)
    assert read.votes.matrix[2].tolist() == [1, 0]


@pytest.mark.parametrize("wait", [{"Retry-After": "1000000000"}, {"retry-after-ms": "inf"}])
def test_an_endpoint_that_asks_to_wait_too_long_stops_the_run(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], wait: dict[str, str]
) -> None:
    with serving_model(lambda path, body, times: Reply(429, {"error": {"message": "later"}}, headers=wait)) as model:
        assert run(model.url, items, tmp_path / "run") == 1
    said = capsys.readouterr().out
    assert "asks to wait" in said
    assert "later" in said


@pytest.mark.parametrize(("given", "seconds"), [("nan", None), ("-5", None), ("30", 30.0), ("1e9", None)])
def test_a_time_to_wait_that_makes_no_sense_is_none(given: str, seconds: float | None) -> None:
    from vlrb.judge.endpoint import read_retry_after  # with OpenAI's library, which is slow to import

    assert read_retry_after({"retry-after": given}) == seconds
    assert read_retry_after({"retry-after-ms": "nan"}) is None


def test_the_summary_names_what_votes_failed_with(
    items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_model(lambda path, body, times: refusal(400, "images are not supported here")) as model:
        assert run(model.url, items, tmp_path / "run") == 0
    told = capsys.readouterr().out
    assert "6 failed with: HTTP 400: images are not supported here" in told
    last = told.splitlines()[-1]
    assert last.startswith("Every vote failed") and "HTTP 400: images are not supported" in last


@pytest.mark.parametrize(
    "options",
    [
        ["--timeout", "0"], ["--timeout", "nan"], ["--price-prompt", "-1"], ["--max-requests", "0"],
        ["--max-cost", "nan", "--price-reply", "1"],
        ["--retry-wait", "-1"], ["--order", "both", "--votes", "3"],
    ],
)  # fmt: skip
def test_a_number_that_makes_no_sense_is_refused_before_anything_is_asked(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert run(model.url, items, tmp_path / "run", *options) == 2
    assert not model.asked
    assert options[0] in capsys.readouterr().err


def test_what_a_run_cannot_read_or_write_is_named(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prompt.txt").write_bytes(b"\xe9 {query} {a0} {a1}")
    assert run(model.url, items, tmp_path / "run", "--prompt", str(tmp_path / "prompt.txt")) == 2
    assert run(model.url, items, tmp_path / "prompt.txt" / "run") == 2
    (tmp_path / "run.json").write_text("{")
    assert run(model.url, items, tmp_path) == 2
    said = capsys.readouterr().err
    assert all(words in said for words in ("is not UTF-8", "Not a directory", "run.json cannot be used"))


def test_a_directory_holds_one_run(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model.url, items, tmp_path / "run") == 0
    assert run(model.url, items, tmp_path / "run", "--temperature", "1") == 2
    assert "parameters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (["--max-requests", "3"], 3),
        (["--max-cost", "0.3", "--price-prompt", "1000", "--price-reply", "1000"], 3),
    ],
)
def test_a_budget_ends_the_run_and_a_larger_one_goes_on(
    model: ModelServer, items: Path, tmp_path: Path, options: list[str], most: int
) -> None:
    assert run(model.url, items, tmp_path / "run", *options, "--concurrency", "1") == 1
    assert len(model.asked) == most
    assert run(model.url, items, tmp_path / "run") == 0
    assert len(model.asked) == 6


def test_ids_that_repeat_come_with_the_fingerprint(model: ModelServer, tmp_path: Path) -> None:
    items = write_items(tmp_path, [item(0), item(0, query="Another?"), item(1)])
    assert run(model.url, items, tmp_path / "run") == 0
    assert [len(line.get("item", "")) for line in predictions(tmp_path / "run")] == [64, 64, 0]


def test_no_more_is_in_flight_than_allowed(items: Path, tmp_path: Path) -> None:
    slow = completion("x")
    slow.after = 0.02
    with serving_model(lambda path, body, times: slow) as model:
        assert run(model.url, items, tmp_path / "run", "--concurrency", "3", votes=5) == 0
    assert model.most_in_flight == 3


def test_status_tells_how_far_a_run_is(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model.url, items, tmp_path / "run", "--limit", "2", votes=2) == 0
    capsys.readouterr()
    assert main(["status", str(tmp_path / "run"), "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert (state["predicted_pairs"], state["pairs"]) == (2, 6), "predictions of a part do not pass for the whole"
    assert (state["done"], state["wanted"], state["complete"], state["parse_rate"]) == (4, 12, False, 1.0)
    assert main(["status", str(tmp_path)]) == 2


def test_what_no_run_has_written_is_not_submitted(model: ModelServer, items: Path, tmp_path: Path) -> None:
    output = tmp_path / "run"
    assert main(["submit", str(output), "--model", "x"]) == 2
    assert run(model.url, items, output) == 0
    assert main(["submit", str(output), "--model", "x", "--server", "http://127.0.0.1:1"]) == 1


def test_a_prompt_with_a_verdict_of_its_own_gives_votes(items: Path, tmp_path: Path) -> None:
    with serving_model(lambda path, body, times: completion("<think>.</think><answer>2</answer>")) as model:
        assert run(model.url, items, tmp_path / "run", "--prompt", "r1-reward", "--order", "both", votes=2) == 0
    assert model.bodies[0]["messages"][0]["content"][0]["type"] == "image_url"
    assert [line["votes"] for line in predictions(tmp_path / "run")[:2]] == [[1, 0], [0, 1]]


def test_a_damaged_file_is_named_in_one_sentence(
    model: ModelServer, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    assert run(model.url, items, output) == 0
    asked, status = len(model.asked), ["status", str(output)]
    again = ["run", "--base-url", model.url, "--model", "m", "--items", str(items), "--output", str(output)]
    cases = [
        ("run.json", "{}", status),
        ("run.json", "{}", again),
        ("run.json", "[" * 5000, status),
        *(("journal.jsonl", f"{line}\n", status) for line in ("garbage", "[1]", '{"row": 0}')),
    ]
    for name, text, command in cases:
        path = output / name
        before = path.read_bytes()
        path.write_text(text)
        assert main(command) == 2, (name, text)
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1 and str(output) in error, (name, text, error)
        assert name != "journal.jsonl" or "Remove the line" in error
        path.write_bytes(before)
    assert len(model.asked) == asked
