"""Whoever waits for a change sees it; while a connection is lost, nobody relies on that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import text

from storage import changes
from storage.changes import DatabaseChanges
from storage.database import Database
from storage.integrity import audit
from tests.databases import new_database
from tests.postgres import Cluster


def append(database: Database, *, fail: bool = False) -> None:
    with database.write() as session:
        audit.append(session, "submissions.resumed", data={})
        if fail:
            raise InterruptedError


def test_a_commit_is_seen_and_nothing_else(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "LOOK_SECONDS", 0.0)
    with closing(DatabaseChanges(database)) as looked:
        before = looked()
        assert before is not None
        with pytest.raises(InterruptedError):
            append(database, fail=True)
        assert looked() == before
        append(database)
        assert looked() != before


@pytest.fixture
def postgresql(postgres_cluster: Cluster) -> Iterator[Database]:
    opened = new_database(postgres_cluster.new_database())
    yield opened
    opened.close()


@pytest.mark.postgres
def test_a_lost_connection_is_known_and_made_again(postgresql: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(changes, "RETRY_SECONDS", 0.0)
    with closing(DatabaseChanges(postgresql)) as looked:
        assert looked() is not None
        with postgresql.write() as session:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%audit_head%' "
            session.execute(text(others + "AND pid <> pg_backend_pid()"))
        assert looked() is None
        assert looked() is not None
