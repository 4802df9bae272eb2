"""A PostgreSQL server that goes away while something starts is waited for, at whichever moment it goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event, select
from sqlalchemy.exc import IntegrityError, OperationalError

from settings import WorkerSettings
from storage import database_wait
from storage.database import DatabaseAway, DatabaseUnusable, open_migrated
from storage.database_wait import AWAY, log_away, retry_while_away
from storage.models.core import Score
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.suite.programs import run_main
from tests.postgres import Cluster
from workers.main import work


def away(words: str = "the connection is lost") -> OperationalError:
    return OperationalError("", None, psycopg.OperationalError(words))


def test_what_a_restart_interrupts_is_done_again() -> None:
    failures: list[Exception] = [away(), DatabaseAway("not up yet"), away("the database system is starting up")]
    rests: list[float] = []

    def action() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert retry_while_away(action, rests.append) == "done"
    assert rests == [database_wait.RETRY_SECONDS] * 3


@pytest.mark.parametrize(
    "error",
    [
        away('FATAL:  password authentication failed for user "x"'),
        away('FATAL:  database "x" does not exist'),
        IntegrityError("", None, psycopg.errors.UniqueViolation("twice")),
        DatabaseUnusable("another version made it"),
    ],
)
def test_what_no_waiting_changes_is_raised_at_once(error: Exception) -> None:
    def action() -> None:
        raise error

    with pytest.raises(type(error)):
        retry_while_away(action, lambda _: pytest.fail("it waits"))


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (away(), True),
        (DatabaseAway("not up yet"), True),
        (psycopg.OperationalError("of a connection that listens"), True),
        (OperationalError("", None, psycopg.errors.AdminShutdown("terminated")), True),
        (OperationalError("", None, psycopg.errors.LockNotAvailable("too long")), False),
        (OperationalError("", None, psycopg.errors.QueryCanceled("statement timeout")), False),
        (IntegrityError("", None, psycopg.errors.UniqueViolation("twice")), False),
        (ValueError("odd"), False),
    ],
)
def test_only_a_database_that_is_away_is_logged_without_a_traceback(
    error: Exception, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert log_away(error) is logged
    assert [(record.message, record.exc_info) for record in caplog.records] == ([(AWAY, None)] if logged else [])


def test_a_server_that_does_not_answer_is_away_and_its_password_is_not_said() -> None:
    with pytest.raises(DatabaseAway) as refused:
        open_migrated("postgresql://me:canary@127.0.0.1:9/board")
    assert "DATABASE_URL" in str(refused.value)
    assert "canary" not in str(refused.value)


@contextmanager
def every_statement_interrupted_once(address: dict[str, Any]) -> Iterator[list[str]]:
    """End the session of this process before each statement that it has not sent before, as a restart does."""
    seen: list[str] = []

    def interrupt(_: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if statement not in seen:
            seen.append(statement)
            with psycopg.connect(**address) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [cursor.connection.info.backend_pid])

    event.listen(Engine, "before_cursor_execute", interrupt)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", interrupt)


@pytest.mark.postgres
@pytest.mark.slow
def test_a_worker_is_interrupted_at_every_statement_and_scores_all(
    tmp_path: Path, postgres_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_wait, "RETRY_SECONDS", 0.0)
    small_benchmark.write_demo(tmp_path)
    url = postgres_cluster.new_database()
    database = new_database(url)
    ids = small_benchmark.submit(database, range(2))
    settings = WorkerSettings.from_env({"DATA_DIR": str(tmp_path), "DATABASE_URL": url, "LEASE_SECONDS": "1"})
    address = {"host": str(postgres_cluster.directory), "user": "postgres", "dbname": "postgres"}

    def start(_: list[str]) -> None:
        with every_statement_interrupted_once(address) as seen:
            work(settings, until_empty=True)
        assert len(seen) > 30, "all of the start and the scoring"

    done = run_main(start, ())
    assert done.returncode == 0, done.stderr
    assert AWAY in done.stderr
    with database.read() as session:
        assert sorted(session.scalars(select(Score.submission_id))) == sorted(ids)
    database.close()
