"""Disclosure levels of all label revisions of a benchmark, as workers and maintainers stated them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from storage.database import change_rows
from storage.labels import label_imports
from storage.models.core import RegisteredLabelSet
from vlrb.disclosure import PUBLIC, merged


def state(
    session: Session, benchmark: str, *, revision: str, level: str, measured: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Record what a worker's settings say of a revision that it was configured with, and what that gives away."""
    known = (RegisteredLabelSet.benchmark == benchmark, RegisteredLabelSet.revision == revision)
    change_rows(session, update(RegisteredLabelSet).where(*known).values(level=level, measured=dict(measured)))


def measured(session: Session, benchmark: str) -> dict[str, dict[str, Any]]:
    """Return label revision -> what its scores give away, of those that are neither public nor drafts."""
    configured = (RegisteredLabelSet.benchmark == benchmark, RegisteredLabelSet.level != PUBLIC)
    rows = session.execute(select(RegisteredLabelSet.revision, RegisteredLabelSet.measured).where(*configured))
    imported = label_imports.active_revisions(session, benchmark)
    hidden = label_imports.hidden_revisions(session, benchmark)
    known = {row.revision: row.difference.get("measured", {}) for row in imported if row.revision in hidden}
    return dict(sorted({**dict(rows.all()), **known}.items()))


def of_known(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level, of those that are no drafts."""
    rows = session.scalars(select(RegisteredLabelSet.revision).where(RegisteredLabelSet.benchmark == benchmark))
    known, every = set(rows) - label_imports.drafts(session, benchmark), levels(session, benchmark)
    return {name: every.get(name, PUBLIC) for name in sorted(known)}


def levels(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level of those that are not public or were configured; all others are public."""
    rows = session.execute(
        select(RegisteredLabelSet.revision, RegisteredLabelSet.level).where(RegisteredLabelSet.benchmark == benchmark)
    )
    configured = {name: level for name, level in rows if level is not None}
    return merged(configured, label_imports.hidden_revisions(session, benchmark))
