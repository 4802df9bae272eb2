"""Columns of a submission that the audit chain holds: a new one must be given a place."""

from __future__ import annotations

from storage.integrity.row_commitments import DESCRIPTION, RECORD, of_description
from storage.models.core import Submission

ELSEWHERE = {
    "owner",
    "votes",
    "orders",
    "margins",
    "salt",
}  # in events by themselves, in the digest of the record, its salt
NOT_HELD = {"report"}  # for its owner alone


def test_every_column_of_a_submission_is_held_by_an_event_or_named_here() -> None:
    columns = {column.name for column in Submission.__table__.columns}
    assert columns == {*RECORD, *DESCRIPTION} | ELSEWHERE | NOT_HELD


def test_every_field_that_is_stated_changes_the_commitment_to_a_description() -> None:
    row = {**dict.fromkeys(DESCRIPTION), "model": "J", "version": "", "salt": "0" * 64}
    for name in DESCRIPTION:
        assert of_description({**row, name: 1}) != of_description(row)
