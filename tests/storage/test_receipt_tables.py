"""Events are found by their subjects, and label sets are committed to."""

from __future__ import annotations

import json

from sqlalchemy import select

from storage.database import Database
from storage.integrity import audit
from storage.labels import label_sets
from storage.models.core import AuditEvent
from storage.models.receipts import EventSubject, LabelCommitment

EVENTS = (
    ("submission.scored", {"submission": "eaaaaaaaaaaa", "label_revision": "v1"}),
    ("scores.recorded", {"label_revision": "v1", "first": "eaaaaaaaaaaa", "last": "ebbbbbbbbbbb"}),
    ("entry.merged", {"entry": "eaaaaaaaaaaa", "into": "ebbbbbbbbbbb"}),
    ("board.pointed", {"from": None, "to": {"label_revision": "v1"}}),
    ("submissions.resumed", {}),
)


def test_events_are_found_by_what_they_are_about(database: Database) -> None:
    with database.write() as session:
        for kind, data in EVENTS:
            audit.append(session, kind, data=data)
    with database.read() as session:
        found = {tuple(row) for row in session.execute(select(EventSubject.subject, EventSubject.seq))}
    assert found == {
        ("eaaaaaaaaaaa", 1),
        (audit.labels("v1"), 2),
        ("eaaaaaaaaaaa", 3),
        ("ebbbbbbbbbbb", 3),
        (audit.BOARD, 4),
    }


def test_every_label_set_is_committed_to_with_a_salt_of_its_own(database: Database) -> None:
    for revision in ("v1", "v2"):
        with database.write() as session:
            label_sets.register(session, revision, benchmark="demo", digest="d" * 64, items=21)
            label_sets.register(session, revision, benchmark="demo", digest="d" * 64, items=21)
    with database.read() as session:
        first, second = session.scalars(select(LabelCommitment)).all()
        bodies = [json.loads(body) for body in session.scalars(select(AuditEvent.body))]
    assert first.salt != second.salt
    assert first.commitment != second.commitment
    assert not any(one.salt in json.dumps(bodies) for one in (first, second))
