"""Snapshots are stored as differences: each can be read and checked."""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import select, text

from storage.boards import snapshots
from storage.database import Database, Session
from storage.integrity import integrity_check as integrity
from storage.models.core import Snapshot
from tests.factories import small_benchmark
from workers.jobs.rescore import rescore
from workers.startup import prepare


def publish(database: Database, numbers: range) -> None:
    """Publish a board without and with relations after each of these submissions."""
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    for number in numbers:
        small_benchmark.submit(database, range(number, number + 1))
        rescore(database, scorer, revision="demo")
        small_benchmark.settled(database, scorer)


def test_every_snapshot_is_read_back_as_it_was_published(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 6
    monkeypatch.setattr(snapshots, "WHOLE", 4)
    publish(database, range(count))
    with database.read() as session:
        rows = session.execute(select(Snapshot.id, Snapshot.base, Snapshot.body)).all()
        for row in rows:
            assert hashlib.sha256(snapshots.content(session, row.id)).hexdigest() == row.id
        found = dict(snapshots.contents(session))
        assert found == {row.id: snapshots.content(session, row.id) for row in rows}
        assert sum(row.base is None for row in rows) == 2 * ((count + 3) // 4), "every fourth of both series is whole"
        assert mismatches(session) == []


def test_a_changed_difference_is_found_and_so_is_what_depends_on_it(database: Database) -> None:
    publish(database, range(4))
    with database.write() as session:
        # As somebody with access to the tables could do it.
        drop = "DROP TRIGGER snapshots_no_update"
        session.execute(text(drop + (" ON snapshots" if database.engine.dialect.name == "postgresql" else "")))
        first = select(Snapshot.id).where(Snapshot.number == 1).limit(1)
        changed = session.scalars(first).one()
        session.execute(text("UPDATE snapshots SET body = :body WHERE id = :id"), {"body": b"x", "id": changed})
    with database.read() as session:
        wrong = [found.row for found in integrity.check(session) if found.table == "snapshots"]
    assert changed in wrong
    assert len(wrong) == 3, "the two after it in its series"


def mismatches(session: Session) -> list[str]:
    """Return what is wrong with snapshots and relations."""
    return [found.sentence for found in integrity.check(session) if found.table in ("snapshots", "relations")]
