"""Commands of maintainers, with a worker beside them, on the real labels; and `python -m maintenance` itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage.database import Database
from storage.jobs import worker_heartbeats
from tests.databases import new_database
from tests.factories import boards, small_benchmark
from tests.factories.suite.programs import run_maintenance
from tests.real_data import real_file

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


def test_a_command_does_not_wait_for_what_only_sign_in_needs() -> None:
    told = "import sys, maintenance.command_line; print('authlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", told], cwd=ROOT, text=True, timeout=100).strip() == "False"


def test_a_shell_without_the_settings_of_the_service_gets_no_database_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maintenance", "pause", "Back at noon."]
    done = subprocess.run(command, cwd=ROOT, env=_environ(tmp_path), capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("maintenance: No service") and "the benchmark demo" in done.stderr
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
    assert "There is no grant 99" in _run(environ, "quota", "revoke", "99", "--reason", "x", expect=1)
    health = _json(environ, "health")
    assert (health["benchmark"], health["data"]) == ("demo", [str(tmp_path / "demo")])
    assert (health["paused"], health["jobs"]["failed"], health["disks"][0]["free"] > 0) == ("Back at noon.", 0, True)
    assert "paused: Back at noon." in _run(environ, "health")
    _run(environ, "resume")
    head = tmp_path / "head.json"
    head.write_text(_run(environ, "audit", "head"))
    assert "hold" in _run(environ, "audit", "verify", "--head", str(head))
    head.write_text(json.dumps({**json.loads(head.read_text()), "hash": "0" * 64}))
    assert "not the one" in _run(environ, "audit", "verify", "--head", str(head), expect=1)


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


def test_a_broken_chain_is_named_and_fails_the_command(demo: tuple[dict[str, str], Database]) -> None:
    environ, database = demo
    for entry in small_benchmark.submit(database, range(3)):
        _run(environ, "entries", "hide", entry, "--reason", "because")
    with database.write() as session:
        session.connection().exec_driver_sql("DROP TRIGGER events_no_update")
        session.connection().exec_driver_sql(
            "UPDATE events SET body = replace(body, 'because', 'becausf') WHERE seq = 5"
        )
    assert "broken at event 5" in _run(environ, "audit", "verify", expect=1)


@pytest.mark.slow
def test_labels_are_imported_previewed_applied_and_undone_with_a_real_worker(tmp_path: Path) -> None:
    (tmp_path / "imports").mkdir()
    shutil.copy(real_file("data/labels_v2.jsonl"), tmp_path / "imports")
    environ = _environ(tmp_path, LABELS=f"v1={boards.labels_file('v1')}")
    worker = subprocess.Popen(
        [sys.executable, "-m", "workers"], cwd=ROOT, env=environ, stderr=(tmp_path / "log").open("w")
    )
    try:
        database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
        ids = boards.submit(database, boards.judges())
        done = _run(
            environ,
            "labels",
            "import",
            "v2",
            "labels_v2.jsonl",
            "--reason",
            "x",
            "--disclosure",
            "public",
            "--wait",
        )
        assert "1,247 labels" in done
        assert "16 flipped, 0 added, 3 dropped" in _run(environ, "labels", "list")
        _wait_until_scored(environ)
        preview = _json(environ, "rescore", "preview", "v2", "--wait")
        assert {row["id"] for row in preview["entries"]} == set(ids)
        assert "confirm" in _run(environ, "rescore", "apply", "v2", "--reason", "x", expect=1)
        applied = _json(environ, "rescore", "apply", "v2", "--reason", "sixteen", "--confirm", "v2", "--wait")
        assert applied["state"] == "done" and applied["outcome"].startswith(f"Applied: {len(ids)} entries, ")
        assert _json(environ, "health")["label_revision"] == "v2"
        assert "goes back to revision v1" in _run(environ, "rescore", "undo", "v2", "--reason", "back", expect=1)
        _run(environ, "rescore", "undo", "v2", "--reason", "back", "--confirm", "v2")
        assert _json(environ, "health")["label_revision"] == "v1"
        assert "confirm" in _run(environ, "labels", "retire", "v2", "--reason", "over", expect=1)
        _run(environ, "labels", "retire", "v2", "--reason", "over", "--confirm", "v2", "--wait")
        assert "retired" in _run(environ, "labels", "list")
        assert "hold" in _run(environ, "audit", "verify")
    finally:
        worker.terminate()
        assert worker.wait(100) == 0, (tmp_path / "log").read_text()
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log, log
    assert "wildvision-battle-1227" not in log


def _wait_until_scored(environ: dict[str, str]) -> None:
    for _ in range(60):
        jobs = _json(environ, "health")["jobs"]
        if jobs["done"] >= len(boards.judges()) and not jobs["queued"] + jobs["running"]:
            return
    raise AssertionError(jobs)
