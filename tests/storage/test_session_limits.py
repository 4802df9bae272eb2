"""On PostgreSQL no session waits without limit: for a lock, for a statement, or for a writer that has stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from storage import database as database_module
from storage.database import UNAVAILABLE, Database, migrate, open_database
from storage.integrity import audit
from tests.databases import new_database
from tests.factories.services.local_client import local_client
from tests.postgres import Cluster

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(postgres_cluster: Cluster) -> Iterator[Database]:
    opened = new_database(postgres_cluster.new_database())
    yield opened
    opened.close()


def shown(database: Database, name: str, *, writing: bool) -> str:
    with database.write() if writing else database.read() as session:
        return str(session.execute(text(f"SHOW {name}")).scalar_one())


def test_every_session_has_limits_and_readers_may_compute(database: Database) -> None:
    for writing in (True, False, True):  # the same connections, again and again
        assert shown(database, "lock_timeout", writing=writing) == "10s"
        assert shown(database, "statement_timeout", writing=writing) == "2min"
        idle = shown(database, "idle_in_transaction_session_timeout", writing=writing)
        assert idle == ("20s" if writing else "0")


def test_a_writer_that_stops_inside_its_transaction_is_ended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "IDLE_IN_WRITE", "1s")
    locked, done = threading.Event(), threading.Event()
    failed: list[Exception] = []

    def freeze() -> None:
        try:
            with database.write() as session:
                audit.acquire_chain_lock(session)
                locked.set()
                done.wait(60)  # as a stopped process does
                audit.append(session, "submissions.resumed", data={})
        except UNAVAILABLE as error:
            failed.append(error)

    frozen = threading.Thread(target=freeze)
    frozen.start()
    assert locked.wait(30)
    monkeypatch.undo()  # a writer that the machine keeps waiting has not stopped
    with database.write() as session:
        audit.append(session, "submissions.paused", data={"message": "noon"})
    assert frozen.is_alive(), "who stands still has not let go by itself"
    done.set()
    frozen.join()
    assert failed, "what it had done is undone, and it is told"
    with database.read() as session:
        assert audit.head(session).seq == 1


def test_a_lock_is_waited_for_so_long_and_no_longer(postgres_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database_module.SESSION_LIMITS, "lock_timeout", "200ms")
    database = new_database(postgres_cluster.new_database())
    other = open_database(database.engine.url.render_as_string(hide_password=False))
    try:
        with database.write() as session:
            audit.acquire_chain_lock(session)
            with pytest.raises(OperationalError), other.write() as second:
                audit.acquire_chain_lock(second)
    finally:
        database.close()
        other.close()


def test_while_the_database_is_away_responses_have_retry_after(tmp_path: Path, postgres_cluster: Cluster) -> None:
    url = postgres_cluster.new_database()
    database = open_database(url)
    migrate(database)
    http = local_client(database, tmp_path)
    assert http.get("/api/v1/submissions/e1").status_code == 404
    postgres_cluster.drop(url)
    for path in ("/api/v1/submissions/e1", "/api/v1/submissions/e1", "/readyz"):
        refused = http.get(path)
        assert (refused.status_code, refused.json()["code"]) == (503, "database-offline")
        assert refused.headers["retry-after"] == "5"
    assert http.get("/metrics").text.count("leaderboard_database_up 0.0") == 1
    database.close()
