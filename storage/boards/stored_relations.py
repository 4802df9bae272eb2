"""Stored relations between judges: summary and arrays, stored as a difference to earlier ones of the same labels."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.orm import Session

from common import deltas
from storage.boards import series
from storage.boards.series import SeriesPlace
from storage.boards.snapshots import UNREADABLE
from storage.models.core import StoredRelations
from vlrb.statistics import pairwise_delta

_RECENT = 8  # some label revisions twice; 2 MB each with 500 judges
_IN_BODY = "{}"  # instead of a summary, where the body has it
_COLUMNS = (StoredRelations.inputs, StoredRelations.id, StoredRelations.summary, StoredRelations.body)
_ROW = (*_COLUMNS, StoredRelations.benchmark, StoredRelations.label_revision)
_CHAIN = (StoredRelations.base, StoredRelations.number)


class RelationsContent(NamedTuple):
    """Summary, which goes into the snapshot, and content of the arrays."""

    summary: bytes
    arrays: bytes


class NewRelations(NamedTuple):
    """Relations to be stored. `inputs`: digest of what they were computed from. `body`: of pairwise.pack."""

    inputs: str
    id: str
    label_revision: str
    summary: str
    body: bytes


class RecentRelations:
    """The contents that a process stored last, by their inputs, so that it need not put them together again."""

    def __init__(self) -> None:
        self._kept: dict[str, RelationsContent] = {}

    def keep(self, stored: Sequence[NewRelations]) -> None:
        """Keep what a transaction has stored, once it is committed. Older ones are forgotten."""
        new = {
            relations.inputs: RelationsContent(relations.summary.encode(), zlib.decompress(relations.body))
            for relations in stored
        }
        kept = {**self._kept, **new}
        self._kept = {name: kept[name] for name in list(kept)[-_RECENT:]}

    def find(self, inputs: str) -> RelationsContent | None:
        """Return what was stored under these inputs; None where it has to be read."""
        return self._kept.get(inputs)


def summaries(
    session: Session, benchmark: str, *, wanted: Mapping[str, str], recent: RecentRelations
) -> dict[str, str]:
    """Return the summaries of a benchmark under digests of inputs: inputs -> summary."""
    rows = session.execute(
        select(*_COLUMNS, *_CHAIN).where(
            StoredRelations.benchmark == benchmark, StoredRelations.inputs.in_(wanted.values())
        )
    )
    return {row.inputs: _content(session, benchmark, row=row, recent=recent).summary.decode() for row in rows}


def body(session: Session, relations_id: str) -> bytes | None:
    """Return stored relations, for pairwise.unpack; a snapshot names them as relations[revision]["id"]."""
    wanted = select(*_ROW, *_CHAIN).where(StoredRelations.id == relations_id)
    row = session.execute(wanted.order_by(StoredRelations.number.desc()).limit(1)).first()
    if row is None or row.base is None:
        return None if row is None else bytes(row.body)
    return zlib.compress(_read(session, row.benchmark, row=row).arrays, 0)


def prepare(session: Session, benchmark: str, *, new: NewRelations, recent: RecentRelations) -> dict[str, Any]:
    """Return the columns of a new row; who stores it holds the lock of the board, as for ``series.next_place``."""
    place = series.next_place(session, StoredRelations, series=f"{benchmark} {new.label_revision}")
    whole = {**new._asdict(), "benchmark": benchmark}
    if place.base is None:
        return whole | place._asdict()
    base = session.execute(select(*_COLUMNS, *_CHAIN).where(*_key(benchmark, place.base))).one()
    before = _content(session, benchmark, row=base, recent=recent)
    arrays = pairwise_delta.encode(before.arrays, zlib.decompress(new.body))
    if arrays is None:
        return whole | SeriesPlace(place.series, place.number, base=None)._asdict()
    summary = deltas.encode(deltas.split_fragments(before.summary), deltas.split_fragments(new.summary.encode()))
    packed = pairwise_delta.compress(summary, arrays)
    return whole | place._asdict() | {"summary": _IN_BODY, "body": packed}


def store(session: Session, columns: Mapping[str, Any]) -> None:
    """Store what ``prepare`` returned."""
    session.execute(insert(StoredRelations).values(**columns))


def contents(session: Session) -> Iterator[tuple[Any, RelationsContent | None]]:
    """Yield every row and its content, each decoded once; None where it cannot be read."""
    order = (StoredRelations.series, StoredRelations.number, StoredRelations.inputs)
    before: dict[str, RelationsContent] = {}
    for row in session.execute(select(*_ROW, *_CHAIN).order_by(*order)).yield_per(1):
        try:
            result = _whole(row) if row.base is None else _changed(before[row.base], row)
        except UNREADABLE:
            yield row, None
            continue
        yield row, result
        before = {row.inputs: result}


def _content(session: Session, benchmark: str, *, row: Any, recent: RecentRelations) -> RelationsContent:
    return recent.find(row.inputs) or _read(session, benchmark, row=row)


def _read(session: Session, benchmark: str, *, row: Any) -> RelationsContent:
    def find(base: str) -> Any:
        return session.execute(select(*_COLUMNS, *_CHAIN).where(*_key(benchmark, base))).first()

    return series.read(row, find, whole=_whole, change=_changed)


def _key(benchmark: str, inputs: str) -> tuple[ColumnElement[bool], ...]:
    return StoredRelations.benchmark == benchmark, StoredRelations.inputs == inputs


def _whole(row: Any) -> RelationsContent:
    return RelationsContent(str(row.summary).encode(), zlib.decompress(row.body))


def _changed(base: RelationsContent, row: Any) -> RelationsContent:
    summary, arrays = pairwise_delta.decompress(row.body)
    text = b"".join(deltas.decode(deltas.split_fragments(base.summary), summary))
    return RelationsContent(text, pairwise_delta.decode(base.arrays, arrays))
