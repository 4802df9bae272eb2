"""An older database finds its events, and commits to its labels, when it is brought up to date."""

from __future__ import annotations

import json

from alembic import command
from sqlalchemy import column, insert, select, table, text

from benchmark.commitments import commit
from common.canonical_json import canonical_json
from storage import audit, label_sets
from storage.clock import iso
from storage.database import Database, migrate, open_database
from storage.models.core import AuditEvent, AuditHead
from storage.models.receipts import EventSubject, LabelCommitment
from tests.databases import move_schema

# As they were: the declared tables may have got columns since.
OLD_LABEL_SETS = table("label_sets", *map(column, ("revision", "benchmark", "digest", "items", "registered_at")))
OLD_EVENTS = table("events", *map(column, ("seq", "prev_hash", "hash", "kind", "body", "at")))
AT = 1795298400.0
EVENTS = (
    ("submission.scored", {"submission": "eaaaaaaaaaaa", "label_revision": "v1"}),
    ("scores.recorded", {"label_revision": "v1", "first": "eaaaaaaaaaaa", "last": "ebbbbbbbbbbb"}),
    ("entry.merged", {"entry": "eaaaaaaaaaaa", "into": "ebbbbbbbbbbb"}),
    ("board.pointed", {"from": None, "to": {"label_revision": "v1"}}),
    ("submissions.resumed", {}),
)


def test_events_and_label_sets_of_an_older_database_are_taken_along(database_url: str) -> None:
    database = open_database(database_url)
    move_schema(database, command.upgrade, "0005")
    previous = audit.GENESIS
    with database.write() as session:
        row = {"revision": "v1", "benchmark": "demo", "digest": "d" * 64, "items": 21, "registered_at": 1.0}
        session.execute(insert(OLD_LABEL_SETS).values(**row))
        for seq, (kind, data) in enumerate(EVENTS, start=1):
            body = canonical_json({**data, "seq": seq, "ev": kind, "at": iso(AT)})
            digest = audit.link(previous, body)
            row = {"seq": seq, "prev_hash": previous, "hash": digest, "kind": kind, "body": body, "at": AT}
            session.execute(insert(OLD_EVENTS).values(**row))
            previous = digest
        session.execute(text("UPDATE audit_head SET seq = :seq, hash = :hash"), {"seq": len(EVENTS), "hash": previous})
    migrate(database)
    with database.read() as session:
        found = {tuple(row) for row in session.execute(select(EventSubject.subject, EventSubject.seq))}
        kept = session.scalars(select(LabelCommitment)).one()
        assert audit.verify(session) is None
        assert session.scalars(select(AuditHead.seq)).one() == len(EVENTS)
    assert found == {
        ("eaaaaaaaaaaa", 1),
        (audit.labels("v1"), 2),
        ("eaaaaaaaaaaa", 3),
        ("ebbbbbbbbbbb", 3),
        (audit.BOARD, 4),
    }
    assert kept.commitment == commit("d" * 64, bytes.fromhex(kept.salt))
    # The index of later events is made in the same way.
    with database.write() as session:
        for kind, data in EVENTS:
            audit.append(session, kind, data)
    with database.read() as session:
        rows = session.execute(select(EventSubject.subject, EventSubject.seq).where(EventSubject.seq > len(EVENTS)))
        assert {(subject, seq - len(EVENTS)) for subject, seq in rows} == found
    database.close()


def test_every_label_set_is_committed_to_with_a_salt_of_its_own(database: Database) -> None:
    for revision in ("v1", "v2"):
        with database.write() as session:
            label_sets.register(session, revision, "demo", "d" * 64, 21)
            label_sets.register(session, revision, "demo", "d" * 64, 21)
    with database.read() as session:
        first, second = session.scalars(select(LabelCommitment)).all()
        bodies = [json.loads(body) for body in session.scalars(select(AuditEvent.body))]
    assert first.salt != second.salt
    assert first.commitment != second.commitment
    assert not any(one.salt in json.dumps(bodies) for one in (first, second))
