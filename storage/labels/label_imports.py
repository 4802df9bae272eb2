"""Imported label revisions: their metadata, never a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Update, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.models.core import RegisteredLabelSet
from storage.models.moderation import ImportedLabels
from vlrb.disclosure import PUBLIC


def record(session: Session, revision: str, *, facts: Mapping[str, Any]) -> None:
    """Add a draft; `facts` are the other columns. Raises IntegrityError where the name is taken."""
    session.execute(insert(ImportedLabels).values(revision=revision, **facts))


def name_taken(session: Session, benchmark: str, *, revision: str) -> bool:
    """Return whether there is such a revision, imported or configured."""
    key = (benchmark, revision)
    return session.get(ImportedLabels, key) is not None or session.get(RegisteredLabelSet, key) is not None


def find(session: Session, benchmark: str, *, revision: str) -> ImportedLabels | None:
    """Return an imported revision; None for a configured one."""
    return session.get(ImportedLabels, (benchmark, revision), populate_existing=True)


def active_revisions(session: Session, benchmark: str) -> Sequence[ImportedLabels]:
    """Return those that workers score new submissions under."""
    rules = (ImportedLabels.benchmark == benchmark, ImportedLabels.published_at.is_not(None))
    return session.scalars(select(ImportedLabels).where(*rules).order_by(ImportedLabels.revision)).all()


def names(session: Session, benchmark: str) -> set[str]:
    """Return all imported revisions of a benchmark."""
    return set(session.scalars(select(ImportedLabels.revision).where(ImportedLabels.benchmark == benchmark)))


def drafts(session: Session, benchmark: str) -> set[str]:
    """Return those that nobody may see yet."""
    rules = (ImportedLabels.benchmark == benchmark, ImportedLabels.published_at.is_(None))
    return set(session.scalars(select(ImportedLabels.revision).where(*rules)))


def hidden_revisions(session: Session, benchmark: str) -> dict[str, str]:
    """Return label revision -> disclosure level of those that are not public and not retired; drafts too."""
    rows = select(ImportedLabels.revision, ImportedLabels.disclosure).where(
        ImportedLabels.benchmark == benchmark,
        ImportedLabels.disclosure != PUBLIC,
        ImportedLabels.retired_at.is_(None),
    )
    return dict(session.execute(rows).all())


def disclose(session: Session, benchmark: str, *, revision: str) -> bool:
    """Make an imported revision public; False where it is, or is none."""
    hidden = _change(benchmark, revision, ImportedLabels.disclosure != PUBLIC)
    return change_rows(session, hidden.values(disclosure=PUBLIC))


def publish(session: Session, benchmark: str, *, revision: str) -> bool:
    """End the secrecy of a draft; False where it is none."""
    draft = _change(benchmark, revision, ImportedLabels.published_at.is_(None))
    return change_rows(session, draft.values(published_at=database_now()))


def unpublish(session: Session, benchmark: str, *, revision: str) -> None:
    """Make an imported revision a draft again; do nothing to a configured one."""
    change_rows(session, _change(benchmark, revision).values(published_at=None))


def retire(session: Session, benchmark: str, *, revision: str, salt: str) -> None:
    """Reveal the salt."""
    known = _change(benchmark, revision, ImportedLabels.retired_at.is_(None))
    change_rows(session, known.values(retired_at=database_now(), salt=salt))


def _change(benchmark: str, revision: str, *conditions: ColumnElement[bool]) -> Update:
    return update(ImportedLabels).where(
        ImportedLabels.benchmark == benchmark, ImportedLabels.revision == revision, *conditions
    )
