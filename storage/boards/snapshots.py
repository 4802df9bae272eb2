"""Stored snapshots: which one was current when, and their content, stored as a difference to an earlier one."""

import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from common import deltas
from storage.boards import series
from storage.models.core import Snapshot

UNREADABLE = (TypeError, ValueError, LookupError, zlib.error)  # what a row that was changed may cause
_ID = re.compile(r"[0-9a-f]{12,64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


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


def series_of(benchmark: str, *, with_relations: bool) -> str:
    """Return the series of a snapshot: those with and without relations are like their own kind."""
    return f"{benchmark} {'with' if with_relations else 'without'} relations"


def content(session: Session, snapshot_id: str) -> bytes:
    """Return the JSON of a snapshot. Raises LookupError where there is no such snapshot."""
    return b"".join(fragments(session, snapshot_id))


def fragments(session: Session, snapshot_id: str) -> list[bytes]:
    """Return the fragments of its JSON, as ``common.deltas`` counts them. Raises LookupError."""
    row = _row(session, snapshot_id)
    if row is None:
        raise LookupError(f"no snapshot {snapshot_id}")
    return series.read(row, lambda base: _row(session, base), whole=_whole, change=_changed)


def _row(session: Session, snapshot_id: str) -> Any:
    return session.execute(select(Snapshot.base, Snapshot.body).where(Snapshot.id == snapshot_id)).first()


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
