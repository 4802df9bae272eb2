"""What events commit to: label sets, and the columns of a submission; a new one must be given a place."""

from __future__ import annotations

import json

from sqlalchemy import select

from storage.database import Database
from storage.integrity.row_commitments import DESCRIPTION, RECORD, of_description
from storage.labels import label_sets
from storage.models.core import AuditEvent, RegisteredLabelSet, Submission
from tests.databases import DECIDED

ELSEWHERE = {
    "owner",
    "votes",
    "orders",
    "margins",
    "salt",
    "attempt",
    "attempt_revision",
    "attempted_at",
    "policy",
}  # in events by themselves, in the digest of the record, its salt
NOT_HELD = {"report"} | DECIDED  # for its owner alone; each decision has an event


def test_every_column_of_a_submission_is_held_by_an_event_or_named_here() -> None:
    columns = {column.name for column in Submission.__table__.columns}
    assert columns == {*RECORD, *DESCRIPTION} | ELSEWHERE | NOT_HELD


def test_every_field_that_is_stated_changes_the_commitment_to_a_description() -> None:
    row = {**dict.fromkeys(DESCRIPTION), "model": "J", "version": "", "salt": "0" * 64}
    for name in DESCRIPTION:
        assert of_description({**row, name: 1}) != of_description(row)


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
