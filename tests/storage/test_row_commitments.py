"""Which columns of a submission the audit chain holds: a new one must be given a place."""

from __future__ import annotations

from storage.models.core import Submission
from storage.row_commitments import DESCRIPTION, RECORD

ELSEWHERE = {"owner", "votes", "salt"}  # in events by themselves, in the record's digest, and what both are salted with
NOT_HELD = {"report", "receipt"}  # for its owner alone; signed


def test_every_column_of_a_submission_is_held_by_an_event_or_named_here() -> None:
    columns = {column.name for column in Submission.__table__.columns}
    assert columns == {*RECORD, *DESCRIPTION} | ELSEWHERE | NOT_HELD
