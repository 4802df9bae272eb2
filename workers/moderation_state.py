"""Moderation state of entries for the snapshot: removed, anonymous, verified, flagged. What a snapshot leaves out is
in no page, route, export or feed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.metadata import IDENTIFYING
from storage.models.core import Submission
from storage.visibility import APPROVED, RemovedEntry


class ModerationState(NamedTuple):
    """``off``: entries that are not on the board. ``fields``: what is added to an entry's facts, where there is any.

    ``stubs``: what is left of entries that were withdrawn; hidden and unpublished ones, and those that no
    maintainer has approved, leave nothing. ``unpublished``: entries that their owners hold back, but for those that
    maintainers have hidden. ``anonymous``: entries whose owner is hidden, and until when (ISO).
    """

    off: frozenset[str]
    fields: dict[str, dict[str, Any]]
    stubs: list[dict[str, Any]]
    unpublished: frozenset[str]
    anonymous: dict[str, str]

    def of(self, entry: str) -> dict[str, Any]:
        """``verified_at`` and ``flag`` of an entry; None where it has none."""
        return self.fields.get(entry, _NO_MARKS)

    def public(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of an entry that anybody may see, with ``anonymous_until``: None where its owner is
        named."""
        until = self.anonymous.get(facts["id"])
        # How many attempts the account has made would tell which other entries are theirs.
        secret = {name: None for name in (*IDENTIFYING, "attempts") if name in facts} if until is not None else {}
        return {**facts, **secret, "anonymous_until": until}


_NO_MARKS: dict[str, Any] = {"verified_at": None, "flag": None}


def load_moderation(session: Session, benchmark: str) -> ModerationState:
    """Return all decisions that hold now."""
    decided = (*(getattr(Submission, name) for name in RemovedEntry._fields[1:]), Submission.held_back_at)
    marks = (Submission.approval, Submission.verified_at, Submission.flag, Submission.anonymous_until)
    rows = session.execute(
        select(Submission.id, Submission.model, Submission.version, *decided, *marks)
        .where(Submission.benchmark == benchmark, or_(*(column.is_not(None) for column in (*decided, *marks))))
        .order_by(Submission.created_at, Submission.id)
    )
    off, unpublished = set[str](), set[str]()
    fields: dict[str, dict[str, Any]] = {}
    stubs: list[dict[str, Any]] = []
    anonymous: dict[str, str] = {}
    for row in rows:
        let_through = row.approval in (None, APPROVED)
        if row.hidden_at is not None or row.withdrawn_at is not None or row.held_back_at is not None:
            off.add(row.id)
        if row.held_back_at is not None and row.hidden_at is None:
            unpublished.add(row.id)
        elif row.withdrawn_at is not None and row.hidden_at is None and let_through:
            removed = RemovedEntry(row.id, None, row.withdrawn_at, withdrawn_reason=row.withdrawn_reason)
            stubs += filter(None, [removed.stub(row.model, row.version)])
        if row.verified_at is not None or row.flag is not None:
            fields[row.id] = {"verified_at": row.verified_at and iso(row.verified_at), "flag": row.flag}
        if row.anonymous_until is not None:
            anonymous[row.id] = iso(row.anonymous_until)
    return ModerationState(frozenset(off), fields, stubs=stubs, unpublished=frozenset(unpublished), anonymous=anonymous)
