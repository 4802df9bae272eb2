"""Whoever waits for a change hears of it; while a connection is lost, nobody relies on that."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from storage import change_listener
from storage.change_listener import listening
from storage.database import Database
from storage.integrity import audit
from tests.databases import new_database
from tests.factories.services.service import until
from tests.postgres import Cluster


def append(database: Database, *, fail: bool = False) -> None:
    with database.write() as session:
        audit.append(session, "submissions.resumed", data={})
        if fail:
            raise InterruptedError


def test_a_commit_is_heard_within_a_second(database: Database) -> None:
    woken = threading.Event()
    with listening(database, woken.set) as heard:
        until(lambda: heard() is not None, 30, what="it looks")
        before = heard()
        woken.clear()
        with pytest.raises(InterruptedError):
            append(database, fail=True)
        append(database)
        assert woken.wait(30)
        assert before is not None and (heard() or 0) > before
    assert heard() is None


@pytest.fixture
def postgresql(postgres_cluster: Cluster) -> Iterator[Database]:
    opened = new_database(postgres_cluster.new_database())
    yield opened
    opened.close()


@pytest.mark.postgres
def test_a_lost_connection_is_known_and_made_again(postgresql: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_listener, "RETRY_SECONDS", 0.2)
    changes: list[None] = []
    with listening(postgresql, lambda: changes.append(None)) as heard:
        until(lambda: heard() is not None, 30, what="it looks")
        before = len(changes)
        with postgresql.write() as session:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%audit_head%' "
            session.execute(text(others + "AND pid <> pg_backend_pid()"))
        until(lambda: len(changes) > before, 30, what="what was missed meanwhile is looked for")
        until(lambda: heard() is not None, 30, what="it looks again")
