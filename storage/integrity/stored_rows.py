"""Commitments of submissions as they are stored: read back from the database, as the integrity check will read them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from storage.integrity import row_commitments
from storage.integrity.row_commitments import DESCRIPTION, RECORD
from storage.models.core import Submission

_COLUMNS = tuple(dict.fromkeys((*RECORD, *DESCRIPTION, "owner", "votes", "orders", "margins", "salt")))


def submissions() -> Select[Any]:
    """Return every column of a submission that an event holds."""
    return select(*(getattr(Submission, name) for name in _COLUMNS))


def commitments(session: Session, submission: str) -> dict[str, str]:
    """Return what the event of acceptance says of a row that is there."""
    row = _row_of(session, submission)
    return {
        "record_commitment": row_commitments.of_record(row),
        "description_commitment": row_commitments.of_description(row),
    }


def description_commitment(session: Session, submission: str) -> str:
    """Return what the event of an edit says of the row as it became."""
    return row_commitments.of_description(_row_of(session, submission))


def _row_of(session: Session, submission: str) -> Any:
    return session.execute(submissions().where(Submission.id == submission)).one()._mapping
