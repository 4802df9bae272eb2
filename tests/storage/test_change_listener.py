"""Whoever waits for a change hears of it; while a connection is lost, nobody relies on that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import change_listener
from storage.change_listener import listening
from storage.database import Database
from storage.integrity import audit
from tests.databases import new_database
from tests.factories.services.service import until
from tests.postgres import Cluster


@pytest.fixture
def postgresql(postgres_cluster: Cluster) -> Iterator[Database]:
    opened = new_database(postgres_cluster.new_database())
    yield opened
    opened.close()


def append(database: Database, *, fail: bool = False) -> None:
    with database.write() as session:
        audit.append(session, "submissions.resumed", data={})
        if fail:
            raise InterruptedError


@pytest.mark.postgres
def test_an_event_is_heard_at_its_commit(postgresql: Database) -> None:
    woken = threading.Event()
    with listening(postgresql, woken.set) as heard:
        until(lambda: heard() is not None, 30, what="it listens")
        before = heard()
        assert before is not None
        woken.clear()
        with pytest.raises(InterruptedError):
            append(postgresql, fail=True)
        append(postgresql)
        assert woken.wait(30)
        until(lambda: (heard() or 0) > before, 30, what="it is counted")
    assert heard() is None


@pytest.mark.postgres
def test_a_lost_connection_is_known_and_made_again(postgresql: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_listener, "RETRY_SECONDS", 0.2)
    counts: list[int | None] = []
    with listening(postgresql, lambda: counts.append(None)) as heard:
        until(lambda: heard() is not None, 30, what="it listens")
        before = len(counts)
        with postgresql.write() as session:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
            session.execute(text(others))
        until(lambda: len(counts) > before, 30, what="what was missed meanwhile is looked for")
        until(lambda: heard() is not None, 30, what="it listens again")


def test_a_commit_of_sqlite_is_heard_within_a_second(tmp_path: Path) -> None:
    database, woken = new_database(f"sqlite:///{tmp_path}/board.db"), threading.Event()
    with listening(database, woken.set) as heard:
        until(lambda: heard() is not None, 30, what="it looks")
        before = heard()
        woken.clear()
        append(database)
        assert woken.wait(30)
        assert before is not None and heard() == before + 1
    database.close()
