"""Imported label revisions: their metadata, never a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.models.core import RegisteredLabelSet
from storage.models.moderation import ImportedLabels
from vlrb.disclosure import PUBLIC


class ImportedRevision(NamedTuple):
    """An imported revision. `published`: it is no draft any more."""

    revision: str
    digest: str
    items: int
    commitment: str
    difference: dict[str, Any]
    published: bool
    retired: bool
    level: str  # benchmark.disclosure: what may be shown of scores; public once it is retired

    @property
    def public(self) -> bool:
        """Whether what depends on single labels may be shown."""
        return self.level == PUBLIC


def record(session: Session, revision: str, *, facts: Mapping[str, Any]) -> None:
    """Add a draft; `facts` are the other columns. Raises IntegrityError where the name is taken."""
    session.execute(insert(ImportedLabels).values(revision=revision, **facts))


def name_taken(session: Session, benchmark: str, *, revision: str) -> bool:
    """Return whether there is such a revision, imported or configured."""
    key = (benchmark, revision)
    return session.get(ImportedLabels, key) is not None or session.get(RegisteredLabelSet, key) is not None


def find(session: Session, benchmark: str, *, revision: str) -> ImportedRevision | None:
    """Return an imported revision; None for a configured one."""
    row = session.get(ImportedLabels, (benchmark, revision), populate_existing=True)
    return None if row is None else _imported(row)


def active_revisions(session: Session, benchmark: str) -> list[ImportedRevision]:
    """Return those that workers score new submissions under."""
    rows = session.scalars(
        select(ImportedLabels)
        .where(ImportedLabels.benchmark == benchmark, ImportedLabels.published_at.is_not(None))
        .order_by(ImportedLabels.revision)
    )
    return [_imported(row) for row in rows]


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
    return _change(session, benchmark, revision=revision, where=ImportedLabels.disclosure != PUBLIC, disclosure=PUBLIC)


def publish(session: Session, benchmark: str, *, revision: str) -> bool:
    """End the secrecy of a draft; False where it is none."""
    return _change(
        session, benchmark, revision=revision, where=ImportedLabels.published_at.is_(None), published_at=database_now()
    )


def unpublish(session: Session, benchmark: str, *, revision: str) -> None:
    """Make an imported revision a draft again; do nothing to a configured one."""
    _change(session, benchmark, revision=revision, where=ImportedLabels.published_at.is_not(None), published_at=None)


def retire(session: Session, benchmark: str, *, revision: str, salt: str) -> None:
    """Reveal the salt."""
    _change(
        session,
        benchmark,
        revision=revision,
        where=ImportedLabels.retired_at.is_(None),
        retired_at=database_now(),
        salt=salt,
    )


def _change(session: Session, benchmark: str, *, revision: str, where: ColumnElement[bool], **values: Any) -> bool:
    changed = session.execute(
        update(ImportedLabels)
        .where(ImportedLabels.benchmark == benchmark, ImportedLabels.revision == revision, where)
        .values(**values)
        .returning(ImportedLabels.revision),
        execution_options={"synchronize_session": False},
    )
    return changed.first() is not None


def _imported(row: ImportedLabels) -> ImportedRevision:
    return ImportedRevision(
        row.revision,
        row.digest,
        items=row.items,
        commitment=row.commitment,
        difference=row.difference,
        published=row.published_at is not None,
        retired=row.retired_at is not None,
        level=row.disclosure if row.retired_at is None else PUBLIC,
    )
