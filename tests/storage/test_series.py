"""Snapshots and relations are stored as differences: each can be read and checked, and old ones are thinned out."""

from __future__ import annotations

import hashlib
import json
import zlib

import pytest
from sqlalchemy import insert, select, text

from storage.boards import series, snapshots, stored_relations, thinning
from storage.database import Database, Session
from storage.integrity import integrity_check as integrity
from storage.labels import label_sets
from storage.models.core import AuditEvent, Snapshot, StoredRelations
from tests.factories import small_benchmark
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.startup import prepare

DAY = 86_400.0


def publish(database: Database, numbers: range) -> None:
    """Publish a board without and with relations after each of these submissions."""
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    for number in numbers:
        small_benchmark.submit(database, range(number, number + 1))
        rescore(database, scorer, revision="demo")
        publish_if_changed(database, scorer)
        compute_if_changed(database, scorer)
        publish_if_changed(database, scorer)


def test_every_number_has_a_base_before_it_and_few_steps_to_a_whole_one() -> None:
    for number in (*range(5000), *range(32_000, 34_000)):
        steps, at = 0, number
        while (base := series.base_number(at)) is not None:
            assert base < at
            steps, at = steps + 1, base
        assert steps <= 93
        assert at % series.WHOLE == 0


@pytest.mark.parametrize("count", [6, pytest.param(20, marks=pytest.mark.long)])
def test_every_snapshot_is_read_back_as_it_was_published(
    database: Database, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(series, "STEPS", (1, 4))  # so that few have what many have: differences from further back
    publish(database, range(count))
    with database.read() as session:
        rows = session.execute(select(Snapshot.id, Snapshot.base, Snapshot.body)).all()
        for row in rows:
            assert hashlib.sha256(snapshots.content(session, row.id)).hexdigest() == row.id
        found = dict(snapshots.contents(session))
        assert found == {row.id: snapshots.content(session, row.id) for row in rows}
        whole = [row for row in rows if row.base is None]
        assert {row.id for row in whole} == {rows[0].id, rows[1].id}, "the first of each series"
        for row, content in stored_relations.contents(session):
            assert content is not None
            assert hashlib.sha256(content.arrays).hexdigest() == row.id
            body = stored_relations.body(session, row.id)
            assert body is not None
            assert zlib.decompress(body) == content.arrays
        assert mismatches(session) == []


def test_a_board_of_yesterday_is_shown_with_its_own_relations(database: Database) -> None:
    publish(database, range(2))
    with database.read() as session:
        for name, text_ in snapshots.contents(session):
            said = json.loads(text_ or b"")
            listed = session.scalars(select(Snapshot.relation_ids).where(Snapshot.id == name)).one()
            assert listed == [one["id"] for one in said["relations"].values()]


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


def insert_old(database: Database, days_ago: float, *, number: int) -> str:
    content = f'{{"made": {number}}}'.encode()
    name = hashlib.sha256(content).hexdigest()
    with database.write() as session:
        now = session.execute(text("SELECT max(at) FROM events")).scalar_one()
        row = {"id": name, "benchmark": "demo", "through_seq": 0, "created_at": now - days_ago * DAY}
        session.execute(insert(Snapshot).values(**row, body=zlib.compress(content)))
    return name


def test_of_a_day_long_past_the_last_snapshot_stays_and_addresses_of_others_lead_to_it(database: Database) -> None:
    publish(database, range(2))
    with database.read() as session:
        today = session.scalars(select(Snapshot.id)).all()
        midnight = session.execute(text("SELECT max(at) FROM events")).scalar_one() % DAY / DAY
    old = [insert_old(database, 40 + midnight - 0.1 * hour, number=hour) for hour in range(1, 4)]
    another_day = insert_old(database, 50, number=9)
    recent = [insert_old(database, 20 + midnight - 0.1 * hour, number=20 + hour) for hour in range(1, 3)]
    assert thinning.thin(database, 31) == 2
    with database.read() as session:
        assert set(session.scalars(select(Snapshot.id))) == {*today, *recent, old[-1], another_day}
        assert snapshots.snapshot_at(session, "demo", when=old[0]) == old[-1]
        assert snapshots.snapshot_at(session, "demo", when=old[0][:12]) == old[-1]
        assert snapshots.snapshot_at(session, "demo", when=old[-1]) == old[-1]
        assert json.loads(session.scalars(select(AuditEvent.body).where(AuditEvent.kind == thinning.THINNED)).one())
    assert thinning.thin(database, 31) == 0


def test_thinning_leaves_what_others_are_read_from(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "STEPS", (1, 4))
    monkeypatch.setattr(series, "WHOLE", 16)
    publish(database, range(7))
    with database.read() as session:
        before = dict(snapshots.contents(session))
        pointer = label_sets.current(session, "demo")
    assert pointer is not None
    assert thinning.thin(database, -2) == 6, "as if all of this were long ago: 1 to 3 of both series go"
    with database.read() as session:
        numbers = sorted(session.scalars(select(Snapshot.number)))
        assert numbers == [0, 0, 4, 4, 5, 5, 6, 6], "the last of the day, what it and the next ones are read from"
        left = dict(snapshots.contents(session))
        assert left.items() <= before.items()
        assert pointer.snapshot_id in left
        named = {name for names in session.scalars(select(Snapshot.relation_ids)) for name in names or ()}
        assert named <= set(session.scalars(select(StoredRelations.id)))
        assert mismatches(session) == []
    publish(database, range(7, 12))
    with database.read() as session:
        assert None not in dict(snapshots.contents(session)).values()
        assert None not in dict(stored_relations.contents(session)).values()
        assert mismatches(session) == []


def mismatches(session: Session) -> list[str]:
    """Return what is wrong with snapshots and relations."""
    return [found.sentence for found in integrity.check(session) if found.table in ("snapshots", "relations")]
