"""Stored snapshots: which one was current when, and their content.

Those with and without relations are a series each. In it each is stored as a difference to the one before; every 32nd
whole, so that reading one takes at most 31 steps.
"""

import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from common import deltas
from storage.models.core import Snapshot, StoredRelations

UNREADABLE = (AttributeError, TypeError, ValueError, LookupError, zlib.error)  # what a row that was changed may cause
WHOLE = 32
_ID = re.compile(r"[0-9a-f]{12,64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class SeriesPlace(NamedTuple):
    """Place of a new snapshot in its series, and the id of the one that it is stored as a difference to; None:
    whole."""

    series: str
    number: int
    base: str | None


def snapshot_at(session: Session, benchmark: str, *, when: str) -> str | None:
    """Return the id of the snapshot of a benchmark that was current then; None where there was none.

    ``when``: a snapshot's id or at least its first 12 digits; a day (its last snapshot, UTC); or an ISO instant, UTC
    unless it says otherwise, to the second: what was published within that second counts.

    Raises:
        ValueError: it is none of these.
    """
    if _ID.fullmatch(when):
        same = (Snapshot.benchmark == benchmark, Snapshot.id.startswith(when))
        result = session.scalars(select(Snapshot.id).where(*same).limit(2)).all()
        return result[0] if len(result) == 1 else None
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


def next_place(session: Session, benchmark: str, *, with_relations: bool) -> SeriesPlace:
    """Return the place of the next snapshot. Who stores it holds the lock of the board, or somebody else was faster."""
    series = f"{benchmark} {'with' if with_relations else 'without'} relations"
    last = select(Snapshot.number, Snapshot.id).where(Snapshot.series == series).order_by(Snapshot.number.desc())
    row = session.execute(last.limit(1)).first()
    number, before = (0, None) if row is None else ((row[0] or 0) + 1, row[1])
    return SeriesPlace(series, number, base=before if number % WHOLE else None)


def content(session: Session, snapshot_id: str) -> bytes:
    """Return the JSON of a snapshot. Raises LookupError where there is no such snapshot."""
    return b"".join(fragments(session, snapshot_id))


def fragments(session: Session, snapshot_id: str) -> list[bytes]:
    """Return the fragments of its JSON, as ``common.deltas`` counts them. Raises LookupError."""
    row = _row(session, snapshot_id)
    later = []
    while row.base is not None:
        later.append(row)
        row = _row(session, row.base)
    result = _whole(row)
    for row in reversed(later):
        result = _changed(result, row)
    return result


def _row(session: Session, snapshot_id: str) -> Any:
    row = session.execute(select(Snapshot.base, Snapshot.body).where(Snapshot.id == snapshot_id)).first()
    if row is None:
        raise LookupError(f"no snapshot {snapshot_id}")
    return row


def _whole(row: Any) -> list[bytes]:
    return deltas.split_fragments(zlib.decompress(row.body))


def _changed(base: list[bytes], row: Any) -> list[bytes]:
    return deltas.decode(base, zlib.decompress(row.body))


def contents(session: Session) -> Iterator[tuple[str, bytes | None]]:
    """Yield the id and the content of every snapshot, each decoded once; None where it cannot be read."""
    wanted = select(Snapshot.id, Snapshot.series, Snapshot.number, Snapshot.base, Snapshot.body)
    before: dict[str, list[bytes]] = {}
    for row in session.execute(wanted.order_by(Snapshot.series, Snapshot.number, Snapshot.id)).yield_per(1):
        try:
            result = _whole(row) if row.base is None else _changed(before[row.base], row)
        except UNREADABLE:
            yield row.id, None
            continue
        yield row.id, b"".join(result)
        before = {row.id: result}


def relations(session: Session, relations_id: str) -> bytes | None:
    """Return stored relations, for pairwise.unpack; a snapshot names them as relations[revision]["id"]."""
    return session.scalar(select(StoredRelations.body).where(StoredRelations.id == relations_id).limit(1))
