"""The command is killed in the middle; the same command finishes without asking for a recorded answer again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.vlrb.judge.model_server import JUDGEMENT, Reply, completion, serving_model
from tests.vlrb.judge.running import item, predictions, write_items
from vlrb.judge import JudgeError
from vlrb.judge.journal import Journal

ROOT = Path(__file__).parents[3]
PAIRS, VOTES, CONCURRENCY = 60, 3, 8


def start(url: str, items: Path, *, output: Path) -> subprocess.Popen[bytes]:
    given = ["--base-url", url, "--model", "m", "--items", str(items), "--output", str(output), "--order", "parity"]
    given += ["--votes", str(VOTES), "--concurrency", str(CONCURRENCY)]
    command = [sys.executable, "-m", "vlrb", "judge", "run", *given]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


KILLED, INTERRUPTED = (signal.SIGKILL, 50, -9), (signal.SIGINT, 110, 130)
"""The signal, after how many questions it is sent, the exit code."""


@pytest.mark.parametrize(
    "ends", [[KILLED], pytest.param([KILLED, INTERRUPTED], marks=pytest.mark.long)], ids=["killed", "interrupted too"]
)
def test_a_run_that_is_killed_and_interrupted_goes_on(
    tmp_path: Path, ends: list[tuple[signal.Signals, int, int]]
) -> None:
    items = write_items(tmp_path, [item(i) for i in range(PAIRS)])
    journal = tmp_path / "run" / "journal.jsonl"

    def answer(path: str, body: Any, times: int) -> Reply:
        reply = completion(JUDGEMENT.format(1))
        reply.after = 0.02
        return reply

    with serving_model(answer) as model:
        for sign, asked, code in ends:
            process = start(model.url, items, output=tmp_path / "run")
            while len(model.asked) < asked:
                time.sleep(0.01)
            process.send_signal(sign)
            process.communicate(timeout=60)
            assert process.returncode == code
            with journal.open("ab") as torn:
                torn.write(b'{"row":0,"vote":0,"te')  # a line that the end has torn
        last = start(model.url, items, output=tmp_path / "run")
        out, err = last.communicate(timeout=60)
        assert last.returncode == 0, out + err
    recorded = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len(recorded) == len({(line["row"], line["vote"]) for line in recorded}) == PAIRS * VOTES
    assert 0 <= len(model.asked) - PAIRS * VOTES <= CONCURRENCY, "what was in flight at the kill, nothing else"
    assert {len(line["judgements"]) for line in predictions(tmp_path / "run")} == {VOTES}


def test_two_processes_never_share_a_directory(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)), pytest.raises(JudgeError, match="Another process"):
        Journal(tmp_path)
    Journal(tmp_path).close()
