"""Disclosure levels of all label revisions of a benchmark, as workers and maintainers stated them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from storage.labels import label_imports
from storage.models.core import RegisteredLabelSet
from storage.models.moderation import StatedLevel
from vlrb.disclosure import PUBLIC, merged


def state(
    session: Session, benchmark: str, *, revision: str, level: str, measured: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Record what a worker's settings say of a revision that it was configured with, and what that gives away."""
    # Workers may start at the same instant, so one statement decides; both databases know this form of it.
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    facts = {"level": level, "measured": dict(measured)}
    new = dialect.insert(StatedLevel).values(benchmark=benchmark, revision=revision, **facts)
    session.execute(new.on_conflict_do_update(index_elements=["benchmark", "revision"], set_=facts))


def measured(session: Session, benchmark: str) -> dict[str, dict[str, Any]]:
    """Return label revision -> what its scores give away, of those that are neither public nor drafts."""
    stated_rows = session.scalars(select(StatedLevel).where(StatedLevel.benchmark == benchmark))
    imported = label_imports.active_revisions(session, benchmark)
    hidden = label_imports.hidden_revisions(session, benchmark)
    known = {row.revision: row.measured for row in stated_rows if row.level != PUBLIC}
    known |= {row.revision: row.difference.get("measured", {}) for row in imported if row.revision in hidden}
    return dict(sorted(known.items()))


def stated(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level of the configured ones, as far as a worker has started with them."""
    rows = session.scalars(select(StatedLevel).where(StatedLevel.benchmark == benchmark))
    return {row.revision: row.level for row in rows}


def of_known(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level, of those that are no drafts."""
    rows = session.scalars(select(RegisteredLabelSet.revision).where(RegisteredLabelSet.benchmark == benchmark))
    known, every = set(rows) - label_imports.drafts(session, benchmark), levels(session, benchmark)
    return {name: every.get(name, PUBLIC) for name in sorted(known)}


def levels(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level of those that are not public or were configured; all others are public."""
    return merged(stated(session, benchmark), label_imports.hidden_revisions(session, benchmark))
