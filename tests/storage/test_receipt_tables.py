"""Events are found by their subjects, and label sets are committed to."""

from __future__ import annotations

import json

from sqlalchemy import select

from storage.database import Database
from storage.labels import label_sets
from storage.models.core import AuditEvent, RegisteredLabelSet


def test_every_label_set_is_committed_to_with_a_salt_of_its_own(database: Database) -> None:
    for revision in ("v1", "v2"):
        with database.write() as session:
            label_sets.register(session, revision, benchmark="demo", digest="d" * 64, items=21)
            label_sets.register(session, revision, benchmark="demo", digest="d" * 64, items=21)
    with database.read() as session:
        first, second = session.scalars(select(RegisteredLabelSet)).all()
        bodies = [json.loads(body) for body in session.scalars(select(AuditEvent.body))]
    assert first.salt != second.salt
    assert first.commitment != second.commitment
    assert not any(one.salt in json.dumps(bodies) for one in (first, second))
