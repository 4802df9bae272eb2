"""A PostgreSQL server that goes away while something starts is waited for, at whichever moment it goes."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from storage import database_wait
from storage.database import DatabaseAway, DatabaseUnusable, open_migrated
from storage.database_wait import AWAY, log_away, retry_while_away


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
