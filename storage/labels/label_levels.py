"""Disclosure levels of all label revisions of a benchmark, for what has no settings at hand."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from storage.labels import label_imports
from storage.models.moderation import StatedLevel
from vlrb.disclosure import merged


def state(session: Session, benchmark: str, *, levels: Mapping[str, str]) -> None:
    """Record what a worker's settings say of the revisions that it was configured with."""
    # Workers may start at the same instant, so one statement decides; both databases know this form of it.
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    rows = [
        {"benchmark": benchmark, "revision": revision, "level": level} for revision, level in sorted(levels.items())
    ]
    if rows:
        new = dialect.insert(StatedLevel).values(rows)
        key = ["benchmark", "revision"]
        session.execute(new.on_conflict_do_update(index_elements=key, set_={"level": new.excluded.level}))


def stated(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level of the configured ones, as far as a worker has started with them."""
    rows = session.scalars(select(StatedLevel).where(StatedLevel.benchmark == benchmark))
    return {row.revision: row.level for row in rows}


def levels(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> level of those that are not public or were configured; all others are public."""
    return merged(stated(session, benchmark), label_imports.hidden_revisions(session, benchmark))
