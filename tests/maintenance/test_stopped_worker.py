"""Decisions while the worker is stopped, and boards whose labels no worker holds: real processes, on the demo."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.factories.services.service import Service, halt, running, until
from tests.factories.suite.programs import run_maintenance

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path / "data", LEASE_SECONDS="4") as started:
        shutil.copy(tmp_path / "data/demo/labels.jsonl", tmp_path / "data/imports")
        until(lambda: len(_scored(started)) == 6, 60, what="six simulated judges are on the board")
        yield started


def _scored(service: Service) -> list[dict[str, Any]]:
    entries = service.http.get("/api/v1/leaderboard").json()["entries"]
    return [entry for entry in entries if entry["tier"] == "scored"]


def _maintain(tmp_path: Path, *words: str, expect: int = 0) -> str:
    ours = {"DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": "", "LABELS": ""}
    done = run_maintenance(*words, environ=os.environ | ours)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def _stopped(pid: int, database: Path) -> Iterator[None]:
    """SIGSTOP at a moment at which the process holds no lock of the database."""
    while True:
        halt(pid)
        connection = sqlite3.connect(database, timeout=0)
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError:
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.02)
        finally:
            connection.close()
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_what_is_taken_off_the_board_is_gone_while_the_worker_is_stopped(service: Service, tmp_path: Path) -> None:
    http = service.http
    hidden, withdrawn, *_ = _scored(service)
    database = tmp_path / "data/demo/leaderboard.db"
    with _stopped(service.worker_pid(), database):
        # The worker may just have published another board, since what judges are to each other follows their scores.
        snapshot = _newest_snapshot(database)
        until(lambda: http.get("/api/v1/leaderboard").json()["snapshot"] == snapshot, 10, what="the page has caught up")
        before = http.get("/")
        _maintain(tmp_path, "entries", "hide", hidden["id"], "--reason", "spam")
        until(lambda: http.get(f"/entries/{hidden['id']}").status_code == 404, 10, what="its page is gone")
        assert http.get(f"/entries/{hidden['id']}/badge.svg").status_code == 404
        _maintain(tmp_path, "entries", "withdraw", withdrawn["id"], "--reason", "a wrong prompt")
        until(lambda: len(_scored(service)) == 4, 10, what="the board is without the two")
        page, gone = http.get("/", headers={"If-None-Match": before.headers["etag"]}), (hidden, withdrawn)
        assert page.status_code == 200
        assert page.headers["etag"] != before.headers["etag"]
        assert not [one["model"] for one in gone if str(one["id"]) in page.text]
        stub = http.get(f"/entries/{withdrawn['id']}")
        assert (stub.status_code, "a wrong prompt" in stub.text) == (410, True)
        assert http.get(f"/entries/{withdrawn['id']}/badge.svg").status_code == 410
        assert http.get(f"/?as_of={snapshot}").status_code == 200
        _maintain(tmp_path, "entries", "restore", hidden["id"], "--reason", "no spam")
        until(lambda: http.get(f"/entries/{hidden['id']}").status_code == 200, 10, what="it is back")
        assert http.get("/api/v1/leaderboard").json()["snapshot"] == snapshot, "no worker has published anything"
    until(lambda: http.get("/api/v1/leaderboard").json()["snapshot"] != snapshot, 60, what="the worker publishes it")
    assert len(_scored(service)) == 5


def test_labels_that_no_worker_holds_are_named_and_nothing_is_turned_to_them(service: Service, tmp_path: Path) -> None:
    database = tmp_path / "data/demo/leaderboard.db"
    catalog, source = tmp_path / "data/demo/labels/demo", "labels.jsonl"
    for revision in ("next", "later"):
        _maintain(
            tmp_path,
            "labels",
            "import",
            revision,
            source,
            "--reason",
            "another count",
            "--disclosure",
            "public",
            "--wait",
        )
        apply = ("rescore", "apply", revision, "--reason", "another count", "--confirm", revision)
        _maintain(tmp_path, *apply, "--wait")  # straight after the import: no heartbeat needs to come in between
    (catalog / "next.json").rename(tmp_path / "next.json")
    _new_worker(service, database)
    undo = ("rescore", "undo", "later", "--reason", "too early", "--confirm", "later")
    said = _maintain(tmp_path, *undo, expect=1)
    assert "revision next: bring the file DATA_DIR/labels/demo/next.json back" in said
    assert service.http.get("/readyz").status_code == 200, "the board's own labels are there"
    (tmp_path / "next.json").rename(catalog / "next.json")
    until(lambda: "next" in _held(database), 30, what="the worker says that it holds them again")
    assert "shows revision next" in _maintain(tmp_path, *undo)
    (catalog / "next.json").rename(tmp_path / "next.json")
    _new_worker(service, database)
    problem = service.http.get("/readyz")
    assert (problem.status_code, problem.json()["code"]) == (503, "labels-missing")
    health = _maintain(tmp_path, "health", expect=1)
    assert "revision next, which the board" in health
    assert "bring the file DATA_DIR/labels/demo/next.json back" in health
    (tmp_path / "next.json").rename(catalog / "next.json")
    until(lambda: service.http.get("/readyz").status_code == 200, 30, what="ready again without another start")
    assert "bring the file" not in _maintain(tmp_path, "health")


def _new_worker(service: Service, database: Path) -> None:
    """Has the worker stop in order, and waits until the next one has said what it holds."""
    before = _workers(database)
    os.kill(service.worker_pid(), signal.SIGTERM)
    until(
        lambda: _workers(database).keys() - before.keys() and not _workers(database).keys() & before.keys(),
        60,
        what="new",
    )
    until(lambda: all(_workers(database).values()), 60, what="it says what it holds")


def _workers(database: Path) -> dict[str, str | None]:
    connection = sqlite3.connect(database)
    try:
        return dict(connection.execute("SELECT name, label_revisions FROM workers").fetchall())
    finally:
        connection.close()


def _newest_snapshot(database: Path) -> str:
    connection = sqlite3.connect(database)
    try:
        return str(connection.execute("SELECT snapshot_id FROM board").fetchone()[0])
    finally:
        connection.close()


def _held(database: Path) -> list[str]:
    """Return the label revisions of the demo that running workers have said they hold."""
    return [name for said in _workers(database).values() for name in json.loads(said or "{}").get("demo", [])]
