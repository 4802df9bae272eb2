"""Rows that never change once they are written: the database refuses it, whatever code asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from storage import metadata
from storage.database import Database
from storage.labels import label_imports
from storage.models.core import AuditEvent, Base, RegisteredLabelSet, Score, Snapshot, Submission
from storage.models.moderation import ImportedLabels
from tests.databases import (
    BOTH,
    DECIDED,
    IMPORTED,
    empty_of_kind,
    new_database,
    submitted,
    with_labels,
)

A, B = "a" * 64, "b" * 64
TABLES: tuple[type[Base], ...] = (
    RegisteredLabelSet, ImportedLabels, Submission, AuditEvent, Score,
)  # fmt: skip
NAMES = tuple(table.__tablename__ for table in TABLES)
MAY_CHANGE = {
    "label_sets": {"level", "measured"},  # as the settings say
    "imported_labels": {"published_at", "retired_at", "salt"},  # applied, undone, retired
    "submissions": {"owner", *metadata.NAMES, *DECIDED, "attempted_at"},  # transferred, described anew, decided about
}
COLUMNS = [(table.__tablename__, column.name) for table in TABLES for column in table.__table__.columns]
KEPT = [(table, column) for table, column in COLUMNS if column not in MAY_CHANGE.get(table, ())]
OPEN = [(table, column) for table, column in COLUMNS if column in MAY_CHANGE.get(table, ())]


def _filled(url: str) -> Database:
    """Return a database with one row in each of the tables: labels that are not retired."""
    database = new_database(url)
    with_labels(database)
    (submission,) = submitted(database, 1)
    with database.write() as session:
        session.execute(insert(ImportedLabels).values(**IMPORTED))
        score = {"benchmark": "demo", "label_revision": "demo", "scorer_version": "1", "tally": "{}"}
        session.execute(insert(Score).values(submission_id=submission, **score))
        snapshot = {"id": A, "benchmark": "demo", "through_seq": 0, "created_at": 1.0, "body": b"x"}
        session.execute(insert(Snapshot).values(**snapshot))
    return database


@pytest.fixture(scope="module", params=BOTH)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """For tests that leave everything as it was."""
    opened = _filled(empty_of_kind(request, tmp_path_factory.mktemp("kept")))
    yield opened
    opened.close()


@pytest.fixture
def changing(database_url: str) -> Iterator[Database]:
    """For tests that change something."""
    opened = _filled(database_url)
    yield opened
    opened.close()


def _do(database: Database, statement: str) -> None:
    with database.write() as session:
        session.connection().exec_driver_sql(statement)


def _refused(database: Database, table: str, *, statement: str) -> None:
    with pytest.raises(DatabaseError, match=f"{table} may not be changed"):
        _do(database, statement)


@pytest.mark.parametrize(("table", "column"), KEPT)
def test_what_is_written_once_is_not_written_again(kept: Database, table: str, column: str) -> None:
    _refused(kept, table, statement=f"UPDATE {table} SET {column} = {column}")


def test_a_snapshot_is_never_changed(kept: Database) -> None:
    _refused(kept, "snapshots", statement="UPDATE snapshots SET body = body")


@pytest.mark.parametrize(("table", "column"), OPEN)
def test_what_people_decide_and_describe_may_change(kept: Database, table: str, column: str) -> None:
    _do(kept, f"UPDATE {table} SET {column} = {column}")


@pytest.mark.parametrize("table", NAMES)
def test_none_of_these_rows_can_be_removed(kept: Database, table: str) -> None:
    _refused(kept, table, statement=f"DELETE FROM {table}")
    if kept.engine.dialect.name == "postgresql":
        _refused(kept, table, statement=f"TRUNCATE {table} CASCADE")


@pytest.mark.parametrize("table", NAMES)
def test_sqlite_puts_no_row_in_the_place_of_another(tmp_path: Path, table: str) -> None:
    database = _filled(f"sqlite:///{tmp_path}/leaderboard.db")
    with pytest.raises(IntegrityError, match=f"{table} may not be changed"):
        _do(database, f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
    database.close()


def test_labels_are_published_taken_back_and_retired_once(changing: Database) -> None:
    with changing.write() as session:
        assert label_imports.publish(session, "demo", revision="v2")
    _do(changing, "UPDATE imported_labels SET published_at = NULL")
    with changing.write() as session:
        assert label_imports.publish(session, "demo", revision="v2")
        label_imports.retire(session, "demo", revision="v2", salt=A)
    _refused(changing, "imported_labels", statement=f"UPDATE imported_labels SET salt = '{B}'")
    _refused(changing, "imported_labels", statement="UPDATE imported_labels SET retired_at = 1.0")
    _refused(changing, "imported_labels", statement="UPDATE imported_labels SET retired_at = NULL, salt = NULL")
    with changing.write() as session:
        label_imports.retire(session, "demo", revision="v2", salt=B)  # does nothing, as ever
        found = session.execute(text("SELECT published_at IS NOT NULL, salt FROM imported_labels")).one()
    assert (bool(found[0]), found[1]) == (True, A)


@pytest.mark.parametrize("before", ["hidden:categories", "hidden"])
def test_labels_become_public_and_nothing_else(changing: Database, before: str) -> None:
    row = {**IMPORTED, "revision": "v3", "disclosure": before}
    with changing.write() as session:
        session.execute(insert(ImportedLabels).values(**row))
    for level in ("hidden:categories", "hidden"):
        _refused(changing, "imported_labels", statement=f"UPDATE imported_labels SET disclosure = '{level}'")
    with changing.write() as session:
        assert label_imports.disclose(session, "demo", revision="v3")
        assert not label_imports.disclose(session, "demo", revision="v3")
        assert session.get_one(ImportedLabels, ("demo", "v3")).disclosure == "public"
    for level in ("hidden:categories", "hidden", "public"):
        where = f"SET disclosure = '{level}' WHERE revision = 'v3'"
        _refused(changing, "imported_labels", statement=f"UPDATE imported_labels {where}")
