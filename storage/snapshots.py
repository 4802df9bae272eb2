"""Stored snapshots and their pairwise statistics. Permalinks cite snapshots, so none is ever removed."""

import re
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models.core import Snapshot, StoredRelations

_ID = re.compile(r"[0-9a-f]{12,64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def snapshot_at(session: Session, benchmark: str, when: str) -> str | None:
    """Return the id of the snapshot of a benchmark that was current then; None where there was none.

    ``when``: a snapshot's id or at least its first 12 digits; a day (its last snapshot, UTC); or an ISO instant, UTC
    unless it says otherwise, to the second: what was published within that second counts.

    Raises:
        ValueError: it is none of these.
    """
    if _ID.fullmatch(when):
        same = (Snapshot.benchmark == benchmark, Snapshot.id.startswith(when))
        found = session.scalars(select(Snapshot.id).where(*same).limit(2)).all()
        return found[0] if len(found) == 1 else None
    latest = select(Snapshot.id).where(Snapshot.benchmark == benchmark, Snapshot.created_at < _end(when))
    return session.scalars(latest.order_by(Snapshot.created_at.desc(), Snapshot.through_seq.desc()).limit(1)).first()


def _end(when: str) -> float:
    """Return the first instant, in seconds, that is after the day or the second."""
    try:
        start = datetime.fromisoformat(when)
        return start.replace(microsecond=0, tzinfo=start.tzinfo or UTC).timestamp() + (
            86_400.0 if _DAY.fullmatch(when) else 1.0
        )
    except (ValueError, OverflowError):
        raise ValueError(f"neither a snapshot's id nor a date: {when!r}") from None


def relations_body(session: Session, relations_id: str) -> bytes | None:
    """Return stored relations, for pairwise.unpack; a snapshot names them as relations[revision]["id"]."""
    return session.scalars(select(StoredRelations.body).where(StoredRelations.id == relations_id).limit(1)).first()
