"""Snapshots before and after an event that made a board show other labels."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.integrity import audit
from storage.models.core import BoardState, Snapshot

WAIT_SECONDS = 300.0  # for the snapshot after an event; a worker that is away must not hold news back for longer


class SnapshotsAround(NamedTuple):
    """Ids of the last snapshot before an event and of the first that shows it."""

    before: str
    after: str


def around(session: Session, benchmark: str, *, seq: int) -> SnapshotsAround | None:
    """Return the snapshots of a benchmark around an event; None where one of them is missing."""
    own = select(Snapshot.id).where(Snapshot.benchmark == benchmark)
    before = own.where(Snapshot.through_seq < seq).order_by(Snapshot.through_seq.desc(), Snapshot.created_at.desc())
    after = own.where(Snapshot.through_seq >= seq).order_by(Snapshot.through_seq, Snapshot.created_at)
    snapshots = [session.scalars(query.limit(1)).first() for query in (before, after)]
    return None if snapshots[0] is None or snapshots[1] is None else SnapshotsAround(snapshots[0], snapshots[1])


def shown_through(session: Session, kinds: tuple[str, ...]) -> int:
    """Return the last audit event of which everything can be told: re-scores of these kinds once the board shows
    them, or after WAIT_SECONDS."""
    through = audit.head(session).seq
    now = session.execute(select(database_now())).scalar_one()
    boards = session.execute(select(BoardState.benchmark, BoardState.shown_seq))
    shown_seqs = {row.benchmark: row.shown_seq for row in boards}
    first = audit.first_benchmark(session)
    rescores = (event for event in audit.newest(session, kinds, limit=20) if event.body.get("from"))
    for event in rescores:
        benchmark = event.body.get("benchmark") or first or ""
        if event.at > now - WAIT_SECONDS and shown_seqs.get(benchmark, event.seq) < event.seq:
            through = min(through, event.seq - 1)
    return through
