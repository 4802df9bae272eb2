"""Sessions, pragmas and tables on both databases."""

from __future__ import annotations

import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DatabaseError

from storage.database import Database, UnknownSchema, migrate, open_database
from storage.models.core import Base
from tests.databases import a_submission, submitted
from tests.factories.suite.fork_server import fork_server


def test_sqlite_is_durable_and_checks_foreign_keys(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/deep/er/leaderboard.db")
    with database.read() as session:
        pragmas = {
            name: session.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


def test_a_read_session_cannot_write(database: Database) -> None:
    with database.read() as session:
        session.add(a_submission())
        with pytest.raises(DatabaseError):
            session.flush()
    assert len(submitted(database, 1)) == 1  # the same connection may write again


def test_a_read_session_sees_one_moment(database: Database) -> None:
    with database.read() as session:
        before = session.execute(text("SELECT count(*) FROM submissions")).scalar_one()
        submitted(database, 3)
        assert session.execute(text("SELECT count(*) FROM submissions")).scalar_one() == before == 0
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM submissions")).scalar_one() == 3


def test_writers_that_read_first_wait_for_one_another(database: Database) -> None:
    # With a deferred BEGIN this fails with "database is locked" whatever the timeout.
    ids = submitted(database, 1, temperature=0.0)
    errors: list[Exception] = []

    def add_one() -> None:
        try:
            for _ in range(20):
                with database.write() as session:
                    session.execute(text("SELECT temperature FROM submissions")).scalar_one()
                    session.execute(text("UPDATE submissions SET temperature = temperature + 1"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=add_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with database.read() as session:
        assert session.execute(text("SELECT temperature FROM submissions")).scalar_one() == 80
    assert len(ids) == 1


def _migrate(url: str, together: Barrier) -> None:
    together.wait(120)
    migrate(open_database(url))


def test_processes_may_make_the_tables_at_the_same_time(database_url: str) -> None:
    context = fork_server()
    together = context.Barrier(4)
    started = [context.Process(target=_migrate, args=(database_url, together)) for _ in range(4)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * 4
    opened = open_database(database_url)
    assert set(Base.metadata.tables) < set(inspect(opened.engine).get_table_names())
    opened.close()


def test_tables_of_another_version_are_refused_and_left_alone(database: Database) -> None:
    submitted(database, 1)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0007'"))
    with pytest.raises(UnknownSchema, match=r"an earlier or a later one.*empty DATA_DIR"):
        migrate(database)
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM submissions")).scalar_one() == 1


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "sqlite:///a.db?mode=ro"])
def test_other_databases_are_refused_with_a_reason(url: str) -> None:
    with pytest.raises(ValueError, match="sqlite:///"):
        open_database(url)
