"""Thinning of old snapshots and relations: of a day that is long past, the last snapshot of each board stays.

Also kept: the current ones, those that later ones are differences to, and relations that a kept snapshot names. The
address of a snapshot that was thinned out leads to the last one of its day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from storage.boards import series
from storage.clock import database_now
from storage.database import Database
from storage.integrity import audit
from storage.models.core import BoardState, Snapshot, StoredRelations, ThinnedSnapshot

THINNED = "snapshots.thinned"
_DAY = 86_400.0
_CHUNK = 500


def thin(database: Database, keep_days: int) -> int:
    """Remove what is older than so many days and not kept; return how many snapshots that were."""
    with database.read() as session:
        now = session.execute(select(database_now())).scalar_one()
        if not _removable(session, before := (now // _DAY - keep_days) * _DAY):
            return 0
    with database.write() as session:
        gone = _removable(session, before)
        rows = [row._asdict() for row in _rows(session, gone)]
        for start in range(0, len(rows), _CHUNK):
            names = [row["id"] for row in rows[start : start + _CHUNK]]
            session.execute(insert(ThinnedSnapshot), rows[start : start + _CHUNK])
            session.execute(delete(Snapshot).where(Snapshot.id.in_(names)))
        relations = _thin_relations(session, before)
        audit.append(session, THINNED, data={"before": before, "snapshots": len(rows), "relations": relations})
    return len(rows)


def _removable(session: Session, before: float) -> list[str]:
    """Return the snapshots to remove."""
    columns = (Snapshot.id, Snapshot.benchmark, Snapshot.created_at)
    old = session.execute(select(*columns).where(Snapshot.created_at < before).order_by(*columns[2:])).all()
    last = {(row.benchmark, row.created_at // _DAY): row.id for row in old}
    newer = session.scalars(select(Snapshot.id).where(Snapshot.created_at >= before))
    current = session.scalars(select(BoardState.snapshot_id).where(BoardState.snapshot_id.is_not(None)))
    wanted = {*last.values(), *newer, *filter(None, current), *_latest(session, Snapshot, key=Snapshot.id)}
    bases = {row.id: row.base for row in session.execute(select(Snapshot.id, Snapshot.base))}
    kept = _with_bases(wanted, bases)
    return [row.id for row in old if row.id not in kept]


def _rows(session: Session, names: Collection[str]) -> list[Any]:
    known = set(names)
    rows = session.execute(select(Snapshot.id, Snapshot.benchmark, Snapshot.created_at)).all()
    return [row for row in rows if row.id in known]


def _thin_relations(session: Session, before: float) -> int:
    """Remove relations that no snapshot names; return how many. What came before snapshots named them is kept."""
    listed = session.scalars(select(Snapshot.relation_ids).where(Snapshot.relation_ids.is_not(None)))
    named = {name for names in listed for name in names or ()}
    first = select(func.min(Snapshot.created_at)).where(Snapshot.relation_ids.is_not(None))
    since = session.execute(first).scalar_one() or before
    columns = (StoredRelations.inputs, StoredRelations.id, StoredRelations.base, StoredRelations.created_at)
    rows = session.execute(select(*columns)).all()
    wanted = {row.inputs for row in rows if row.id in named or not since < row.created_at < before}
    wanted |= set(_latest(session, StoredRelations, key=StoredRelations.inputs))
    kept = _with_bases(wanted, {row.inputs: row.base for row in rows})
    gone = [row.inputs for row in rows if row.inputs not in kept]
    for start in range(0, len(gone), _CHUNK):
        session.execute(delete(StoredRelations).where(StoredRelations.inputs.in_(gone[start : start + _CHUNK])))
    return len(gone)


def _latest(session: Session, rows: Any, *, key: Any) -> list[str]:
    """Return what the next row of each series may be a difference to."""
    results: list[str] = []
    lasts = select(rows.series, func.max(rows.number)).where(rows.series.is_not(None)).group_by(rows.series)
    for name, number in session.execute(lasts).all():
        numbers = [number // step * step for step in series.STEPS]
        results += session.scalars(select(key).where(rows.series == name, rows.number.in_(numbers)))
    return results


def _with_bases(wanted: Iterable[str], bases: Mapping[str, str | None]) -> set[str]:
    """Return what is wanted, and all that is needed to read it."""
    kept: set[str] = set()
    for name in wanted:
        step: str | None = name
        while step is not None and step not in kept:
            kept.add(step)
            step = bases.get(step)
    return kept
