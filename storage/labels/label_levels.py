"""Disclosure levels of all label revisions of a benchmark, as workers and maintainers stated them."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from storage.labels import label_imports
from storage.models.core import RegisteredLabelSet
from storage.models.moderation import StatedLevel
from vlrb.disclosure import PUBLIC, merged


def state(session: Session, benchmark: str, *, revision: str, level: str) -> None:
    """Record what a worker's settings say of a revision that it was configured with."""
    # Workers may start at the same instant, so one statement decides; both databases know this form of it.
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    new = dialect.insert(StatedLevel).values(benchmark=benchmark, revision=revision, level=level)
    session.execute(new.on_conflict_do_update(index_elements=["benchmark", "revision"], set_={"level": level}))


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
