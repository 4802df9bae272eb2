"""The commands of the worker; one of each kind as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from storage.database import Database
from storage.models.core import Score
from tests.databases import new_database, shown_board
from tests.factories import small_benchmark
from tests.factories.suite.programs import Finished, run_worker
from tests.real_data import real_file
from workers import WRONG_CONFIGURATION
from workers.main import _stop_on_signals

ROOT = Path(__file__).parents[2]


def _process(*words: str, **environ: str) -> Finished:
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, timeout=100)


def _run(*arguments: str, **environ: str) -> Finished:
    return run_worker(*arguments, environ={**os.environ, **environ})


def _environ(data: Path) -> dict[str, str]:
    return {"DATA_DIR": str(data), "DATABASE_URL": "", "LABELS": ""}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    small_benchmark.write_demo(tmp_path)
    return tmp_path


@pytest.fixture
def installed(data: Path) -> Database:
    return new_database(f"sqlite:///{data}/demo/leaderboard.db")


def test_drain_scores_what_waits_and_exits(data: Path, installed: Database) -> None:
    assert _run("--drain", **_environ(data)).returncode == 0
    small_benchmark.submit(installed, range(3), queued=True)
    done = _process("workers", "--drain", **_environ(data))
    assert done.returncode == 0, done.stderr
    with installed.read() as session:
        assert len(session.scalars(select(Score.id)).all()) == 3
    assert shown_board(installed).snapshot_id is not None
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines].count("job.scored") == 3


def test_without_a_demo_the_worker_says_what_to_do(tmp_path: Path) -> None:
    done = _run("--drain", **_environ(tmp_path))
    assert done.returncode == WRONG_CONFIGURATION
    assert "python app.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_label_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = _run("--drain", **(_environ(tmp_path) | {"LABELS": f"v2={tmp_path}/labels.jsonl"}))
    assert done.returncode == WRONG_CONFIGURATION
    assert "LABELS: labels in" in done.stderr
    assert "labels.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_labels_that_the_project_lists_are_public_and_others_need_a_word(tmp_path: Path) -> None:
    listed, other = real_file("data/labels_v2.jsonl"), tmp_path / "other.jsonl"
    rows = [json.loads(line) for line in listed.read_text().splitlines()]
    rows[0]["human_ranking"].reverse()
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    environ = _environ(tmp_path) | {"LABELS": f"v2={listed}"}
    new_database(f"sqlite:///{tmp_path}/leaderboard.db").close()
    done = _run("--drain", **environ)
    assert done.returncode == 0, done.stderr
    environ["LABELS"] = f"v2={other}"
    refused = _run("--drain", **environ)
    assert refused.returncode == WRONG_CONFIGURATION
    remedies = re.findall(r"vl-rewardbench/v2\S*", refused.stderr)
    assert set(remedies) >= {"vl-rewardbench/v2:public", "vl-rewardbench/v2"}
    for number, remedy in enumerate(("vl-rewardbench/v2:public", "vl-rewardbench/v2", "v2:categories")):
        apart = {"HIDDEN_LABELS": remedy, "DATABASE_URL": f"sqlite:///{tmp_path}/{number}.db"}
        new_database(apart["DATABASE_URL"]).close()
        done = _run("--drain", **environ | apart)
        assert done.returncode == 0, done.stderr


FOR_EVER = 3600.0  # seconds: pytest ends a test long before


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_waiting_and_every_later_one(sign: signal.Signals) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        stop = _stop_on_signals()
        assert not stop.is_set()
        threading.Timer(0.05, os.kill, [os.getpid(), sign]).start()
        stop.wait(FOR_EVER)
        assert stop.is_set()
        signal.raise_signal(sign)
        stop.wait(FOR_EVER)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
