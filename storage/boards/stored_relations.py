"""Stored relations between judges: summary and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
    found = session.execute(select(StoredRelations.inputs, StoredRelations.summary).where(*ours))
    return {inputs: str(summary) for inputs, summary in found}


def body(session: Session, relations_id: str) -> bytes | None:
    """Return stored relations, for pairwise.unpack; a snapshot names them as relations[revision]["id"]."""
    return session.scalar(select(StoredRelations.body).where(StoredRelations.id == relations_id).limit(1))


def store(session: Session, benchmark: str, *, new: NewRelations) -> None:
    """Store relations."""
    session.execute(insert(StoredRelations).values(**new._asdict(), benchmark=benchmark))


def rows(session: Session) -> Iterator[StoredRelations]:
    """Yield all relations."""
    in_order = select(StoredRelations).order_by(StoredRelations.benchmark, StoredRelations.inputs)
    yield from session.scalars(in_order).yield_per(1)
