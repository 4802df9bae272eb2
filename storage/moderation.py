"""Removed entries: hidden or withdrawn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.models.moderation import Moderation
from vlrb.common.messages import _


class RemovedEntry(NamedTuple):
    """An entry that is hidden or withdrawn. Instants in seconds since 1970, UTC."""

    entry: str
    hidden_at: float | None
    withdrawn_at: float | None
    withdrawn_reason: str | None  # public

    def stub(self, model: str, version: str) -> dict[str, Any] | None:
        """Return what is left of it in public: when and why it was withdrawn. None where it is hidden."""
        if self.hidden_at is not None:
            return None
        assert self.withdrawn_at is not None  # nothing else takes an entry off the board
        about = {"model": model, "version": version, "reason": self.withdrawn_reason}
        return {"id": self.entry, "withdrawn": True, "at": iso(self.withdrawn_at), **about}


def removed_entries(session: Session) -> frozenset[RemovedEntry]:
    """Return all entries that are off the board now; few rows."""
    columns = (getattr(Moderation, name) for name in RemovedEntry._fields[1:])
    rows = session.execute(
        select(Moderation.submission_id, *columns).where(Moderation.submission_id.in_(removed_condition()))
    )
    return frozenset(RemovedEntry(*row) for row in rows)


def removed_condition() -> Select[str]:
    """Return ids of the entries that are hidden or withdrawn, for a subquery."""
    return select(Moderation.submission_id).where(
        Moderation.hidden_at.is_not(None) | Moderation.withdrawn_at.is_not(None)
    )


def removal_reasons(session: Session, ids: Collection[str]) -> dict[str, str]:
    """Map the entries that are not on the board any more to the reason, in words for their owner."""
    removed = select(Moderation.submission_id, Moderation.hidden_at, Moderation.withdrawn_reason)
    rows = session.execute(removed.where(Moderation.submission_id.in_(ids)))
    result: dict[str, str] = {}
    for name, hidden_at, reason in rows:
        if hidden_at is not None:
            result[name] = _("A maintainer has hidden this entry.")
        elif reason is not None:
            result[name] = reason
    return result


def is_hidden(session: Session, entry: str) -> bool:
    """Return whether a maintainer has hidden an entry: nothing about it is public."""
    hidden_at = select(Moderation.hidden_at).where(Moderation.submission_id == entry)
    return session.execute(hidden_at).scalar_one_or_none() is not None
