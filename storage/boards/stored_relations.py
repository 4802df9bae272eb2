"""Stored relations between judges: summary and arrays."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from storage.models.core import StoredRelations


class NewRelations(NamedTuple):
    """Relations to be stored. `inputs`: digest of what they were computed from. `body`: of pairwise.pack."""

    inputs: str
    id: str
    label_revision: str
    summary: str
    body: bytes


def summaries(session: Session, benchmark: str, *, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the summaries of a benchmark under digests of inputs: inputs -> summary."""
    ours = (StoredRelations.benchmark == benchmark, StoredRelations.inputs.in_(wanted.values()))
    rows = session.execute(select(StoredRelations.inputs, StoredRelations.summary).where(*ours))
    return {inputs: str(summary) for inputs, summary in rows}


def body(session: Session, relations_id: str) -> bytes | None:
    """Return stored relations, for pairwise.unpack; a snapshot names them as relations[revision]["id"]."""
    return session.scalar(select(StoredRelations.body).where(StoredRelations.id == relations_id).limit(1))


def store(session: Session, benchmark: str, *, new: NewRelations) -> None:
    """Store relations."""
    session.execute(insert(StoredRelations).values(**new._asdict(), benchmark=benchmark))


def contents(session: Session) -> Iterator[tuple[Any, bytes | None]]:
    """Yield every row and the content of its arrays; None where it cannot be read."""
    in_order = select(StoredRelations).order_by(StoredRelations.benchmark, StoredRelations.inputs)
    for row in session.scalars(in_order).yield_per(1):
        try:
            yield row, zlib.decompress(row.body)
        except zlib.error:
            yield row, None
