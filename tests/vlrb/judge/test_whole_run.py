"""The whole benchmark, five votes a pair, through two kills, to an entry on the board. Prints its figures with `-s`."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.factories.services.service import running
from tests.factories.suite.programs import judge_main as main
from tests.real_data import SHARED
from tests.vlrb.judge.model_server import JUDGEMENT, ModelServer, Reply, completion, serving_model
from tests.vlrb.judge.test_prompts import STORED, SWAPPED

ROOT = Path(__file__).parents[3]
ITEMS = SHARED / "data" / "items_v0.jsonl"
PAIRS, VOTES, CONCURRENCY = 1250, 5, 32
WANTED = PAIRS * VOTES
KILLED_AT = (2000, 4300)  # requests
PRICES = ("--price-prompt", "0.4", "--price-reply", "1.6")  # for a million tokens: 100 and 20 of each answer

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not ITEMS.exists(), reason="needs ../shared/data"),
]


def write_items(folder: Path) -> list[dict[str, Any]]:
    """Write the real texts and labels, each with a picture of its own that tells the row."""
    rows = [json.loads(line) for line in ITEMS.read_text().splitlines()]
    for number, row in enumerate(rows):
        out = io.BytesIO()
        Image.new("RGB", (2, 2), (number // 256, number % 256, 7)).save(out, "PNG")
        row["image"] = f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def answer(path: str, body: Any, times: int) -> Reply:
    """Prefer one of the two by what they say, as a judge without a position bias; one in 500 answers is empty."""
    digest = hashlib.sha256(f"{_text(body)}{times}".encode()).digest()
    reply = completion(JUDGEMENT.format(1 + digest[0] % 2) if int.from_bytes(digest[1:3]) % 500 else "")
    reply.after = 0.002 + digest[3] / 20_000
    return reply


def _parts(body: Any) -> dict[str, Any]:
    return {part["type"]: part for part in body["messages"][0]["content"]}


def _text(body: Any) -> str:
    return str(_parts(body)["text"]["text"])


def start(url: str, folder: Path) -> subprocess.Popen[bytes]:
    given = ["--base-url", url, "--model", "scripted", "--items", str(folder / "items.jsonl"), "--seed", "7"]
    given += ["--output", str(folder / "run"), "--votes", str(VOTES), "--image-form", "official", *PRICES]
    command = [sys.executable, "-m", "vlrb", "judge", "run", *given, "--concurrency", str(CONCURRENCY)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def recorded(folder: Path) -> set[tuple[int, int]]:
    """The votes that whole lines of the journal hold."""
    lines = (folder / "run" / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    votes = [json.loads(line) for line in lines]
    return {(vote["row"], vote["vote"]) for vote in votes if "row" in vote}


def run_through_kills(model: ModelServer, folder: Path) -> list[str]:
    """Run until the end, over two kills; each start asks for what is not recorded, and for nothing else."""
    figures = []
    for stop_at in (*KILLED_AT, None):
        known = recorded(folder) if (folder / "run" / "journal.jsonl").exists() else set()
        before, began = len(model.asked), time.monotonic()
        process = start(model.url, folder)
        while stop_at is not None and len(model.asked) < stop_at:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        if stop_at is not None:
            process.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=1800)
        assert process.returncode == (0 if stop_at is None else -9), out + err
        asked, now = len(model.asked) - before, recorded(folder)
        assert known <= now and 0 <= asked - len(now - known) <= CONCURRENCY, "only what was in flight was lost"
        seconds = time.monotonic() - began
        figures.append(f"asked {asked:,}, recorded {len(known):,} -> {len(now):,}, {seconds:.0f} s")
    return figures


def prompts(model: ModelServer, rows: list[dict[str, Any]]) -> tuple[Counter[str], Counter[int]]:
    """Return the digests of all prompts, with a pair's texts replaced by fixed ones; and how often a row was asked."""
    row_of, digests, times = {row["image"]: number for number, row in enumerate(rows)}, Counter[str](), Counter[int]()
    for body in model.bodies:
        parts = _parts(body)
        number = row_of[parts["image_url"]["image_url"]["url"]]
        row, text = rows[number], _text(body)
        for first, second, shown in ((0, 1, ("FIRST", "SECOND")), (1, 0, ("SECOND", "FIRST"))):
            own = _middle(row["query"], row["response"][first], row["response"][second])
            if own in text:
                text = text.replace(own, _middle("Q?", *shown))
                break
        digests[hashlib.sha256(text.encode()).hexdigest()] += 1
        times[number] += 1
    return digests, times


def _middle(query: str, first: str, second: str) -> str:
    return f"Question: {query}\n\nAnswer 1: {first}\n\nAnswer 2: {second}\n".replace("<image>\n", "")


def test_the_benchmark_is_judged_through_two_kills_and_is_on_the_board_with_its_cost(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = write_items(tmp_path)
    with serving_model(answer) as model:
        figures = run_through_kills(model, tmp_path)
    votes = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    assert len(votes) == len(recorded(tmp_path)) == WANTED
    digests, times = prompts(model, rows)
    assert set(digests) == {STORED, SWAPPED}, "every request has the official prompt"
    assert min(times.values()) >= VOTES and len(times) == PAIRS
    assert sum(times.values()) - WANTED <= len(KILLED_AT) * CONCURRENCY
    sent = {name for body in model.bodies for name in body}
    assert sent == {"model", "messages", "stream", "temperature", "top_p", "max_tokens"}, "no seed, nothing else"
    entry = submit(tmp_path)
    stated = {name: entry[name] for name in ("tokens_in", "tokens_out", "price_usd", "wall_seconds")}
    assert (stated["tokens_in"], stated["tokens_out"]) == (100 * WANTED, 20 * WANTED)
    assert stated["price_usd"] == pytest.approx(WANTED * (100 * 0.4 + 20 * 1.6) / 1e6)
    with capfd.disabled():
        print("", *figures, f"prompts {dict(digests)}", f"requests {len(model.asked):,} for {WANTED:,} votes", sep="\n")
        print({name: entry[name] for name in ("id", "rank", "overall", "macro", "interval")} | stated)


def submit(folder: Path) -> dict[str, Any]:
    """Submit the run to a real service with the real labels; returns its row on the board."""
    with running(folder / "data", LABELS=f"v0={ITEMS}") as service:
        given = ["submit", str(folder / "run"), "--model", "Scripted judge", "--server", service.url, "--wait"]
        assert main([*given, "--hardware", "scripted", "--receipt", "-"]) == 0
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            entries = service.http.get("/api/v1/leaderboard").json()["entries"]
            if found := [entry for entry in entries if entry["model"] == "Scripted judge"]:
                return dict(found[0])
            time.sleep(0.5)
    raise AssertionError("the entry is not on the board")
