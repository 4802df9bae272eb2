"""Decisions while the worker is stopped: real processes, on the demo."""

from __future__ import annotations

import os
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


def _newest_snapshot(database: Path) -> str:
    connection = sqlite3.connect(database)
    try:
        return str(connection.execute("SELECT snapshot_id FROM board").fetchone()[0])
    finally:
        connection.close()
