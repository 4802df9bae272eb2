"""`python -m maintenance`: what it refuses, prints and returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maintenance import cli
from storage.database import Database
from storage.jobs import worker_heartbeats
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL
from tests.factories.actions import run_command
from tests.factories.review_setup import add_judges, set_up
from tests.factories.suite.programs import run_maintenance

ROOT = Path(__file__).parents[2]


def _environ(data: Path, **more: str) -> dict[str, str]:
    ours = {"DATA_DIR": str(data), "DATABASE_URL": "", "LABELS": "", "LEASE_SECONDS": "5"}
    return {**os.environ, **ours, **more}


def _run(environ: dict[str, str], *arguments: str, expect: int = 0) -> str:
    done = run_maintenance(*arguments, environ=environ)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout if expect == 0 else done.stdout + done.stderr


def _json(environ: dict[str, str], *arguments: str) -> Any:
    return json.loads(_run(environ, *arguments, "--json"))


@pytest.fixture
def demo(tmp_path: Path) -> tuple[dict[str, str], Database]:
    small_benchmark.write_demo(tmp_path)
    opened = new_database(f"sqlite:///{tmp_path}/demo/leaderboard.db")
    with opened.write() as session:
        worker_heartbeats.record_heartbeat(session, "worker-1")
    return _environ(tmp_path), opened


def test_a_shell_without_the_settings_of_the_service_gets_no_database_of_its_own(tmp_path: Path) -> None:
    said = _run(_environ(tmp_path), "pause", "Back at noon.", expect=1)
    assert said.startswith("maintenance: No service") and "the benchmark demo" in said
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/leaderboard.db").touch()  # nor is one that somebody touched
    assert "No service has run" in _run(_environ(tmp_path), "health", expect=1)


def test_entries_are_moderated_from_the_command_line(demo: tuple[dict[str, str], Database], tmp_path: Path) -> None:
    environ, database = demo
    (entry,) = small_benchmark.submit(database, range(1))
    assert "is hidden" in _run(environ, "entries", "hide", entry, "--reason", "because")
    assert _json(environ, "entries", "hide", entry, "--reason", "because")["changed"] is False
    _run(environ, "entries", "restore", entry, "--reason", "because")
    _run(environ, "entries", "edit", entry, "organisation=A lab", "temperature=0.5")
    assert _json(environ, "entries", "history", entry)[0]["after"] == {"organisation": "A lab", "temperature": 0.5}
    assert "web address" in _run(environ, "entries", "edit", entry, "link=javascript:1", expect=1)
    assert "no entry" in _run(environ, "entries", "hide", "e00000000000", "--reason", "x", expect=1)
    _run(environ, "pause", "Back at noon.")
    assert "There is no job 99" in _run(environ, "jobs", "retry", "99", expect=1)
    health = _json(environ, "health")
    assert (health["benchmark"], health["data"]) == ("demo", [str(tmp_path / "demo")])
    assert (health["paused"], health["jobs"]["failed"]) == ("Back at noon.", 0)
    assert "paused: Back at noon." in _run(environ, "health")
    _run(environ, "resume")
    head = tmp_path / "head.json"
    head.write_text(_run(environ, "audit", "head"))
    assert "hold" in _run(environ, "audit", "verify", "--head", str(head))
    head.write_text(json.dumps({**json.loads(head.read_text()), "hash": "0" * 64}))
    assert "not the one" in _run(environ, "audit", "verify", "--head", str(head), expect=1)


def test_a_command_that_waits_says_so_until_a_worker_has_done_it_and_shows_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)
    add_judges(bench, np.zeros((2, len(bench.table))), owners=["o0", "o1"])
    said: list[str] = []

    def work_once_it_waits(line: str) -> None:
        said.append(line)
        bench.runner.run_all()

    monkeypatch.setattr(cli, "complain", work_once_it_waits)
    asked = run_command(bench.by(LOCAL), "rescore", "preview", "demo")
    assert (said, "task_id" in asked.data) == ([], True), "without the option it comes back at once"
    done = run_command(bench.by(LOCAL), "rescore", "preview", "demo", "--wait")
    assert done.ok and "2 entries: 0 change" in done.text
    assert done.data["summary"]["entries"] == 2, "the preview, not the task"
    assert len(said) == 1 and "waits for a worker" in said[0]


def test_health_fails_while_no_worker_runs(demo: tuple[dict[str, str], Database]) -> None:
    environ, database = demo
    with database.write() as session:
        worker_heartbeats.remove(session, "worker-1")
    report = json.loads(run_maintenance("health", "--json", environ=environ).stdout)
    assert [alarm["code"] for alarm in report["alarms"]] == ["worker-offline"]
    assert "ALARM" in _run(environ, "health", expect=1)


def test_a_reader_that_goes_away_is_no_error(demo: tuple[dict[str, str], Database]) -> None:
    environ, _ = demo
    command = [sys.executable, "-m", "maintenance", "health"]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait(100)) == (b"", 0)
