"""Disclosure levels of all label revisions, for what has no settings at hand: configured and imported ones."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from benchmark.disclosure import merged
from storage import label_imports
from storage.models.moderation import StatedLevel


def state(session: Session, levels: Mapping[str, str]) -> None:
    """Record what a worker's settings say of the revisions that it was configured with."""
    # Workers may start at the same instant, so one statement decides; both databases know this form of it.
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    rows = [{"revision": revision, "level": level} for revision, level in sorted(levels.items())]
    if rows:
        new = dialect.insert(StatedLevel).values(rows)
        session.execute(new.on_conflict_do_update(index_elements=["revision"], set_={"level": new.excluded.level}))


def stated(session: Session) -> dict[str, str]:
    """Return label revision -> level of the configured ones, as far as a worker has started with them."""
    return {row.revision: row.level for row in session.scalars(select(StatedLevel))}


def levels(session: Session) -> dict[str, str]:
    """Return label revision -> level of those that are not public or were configured; all others are public."""
    return merged(stated(session), label_imports.hidden_revisions(session))
