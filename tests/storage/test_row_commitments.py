"""Columns of a submission that the audit chain holds: a new one must be given a place."""

from __future__ import annotations

from storage.integrity.row_commitments import DESCRIPTION, RECORD, of_description, sha256
from storage.metadata import FIRST, LATER
from storage.models.core import Submission
from vlrb.commitments import commit
from vlrb.common.canonical_json import canonical_json

ELSEWHERE = {"owner", "votes", "orders", "salt"}  # in events by themselves, in the digest of the record, its salt
NOT_HELD = {"report"}  # for its owner alone


def test_every_column_of_a_submission_is_held_by_an_event_or_named_here() -> None:
    columns = {column.name for column in Submission.__table__.columns}
    assert columns == {*RECORD, *DESCRIPTION} | ELSEWHERE | NOT_HELD


def test_a_field_that_came_later_changes_no_commitment_made_before_it() -> None:
    row = {**dict.fromkeys(DESCRIPTION), "model": "J", "version": "", "salt": "0" * 64}
    earlier = {name: row[name] for name in FIRST}
    assert of_description(row) == commit(sha256(canonical_json(earlier)), bytes(32))
    for name in LATER:
        assert of_description({**row, name: 1}) != of_description(row)
