"""Moderation state of entries for the snapshot: removed, anonymous, verified, flagged. What a snapshot leaves out is
in no page, route, export or feed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.metadata import IDENTIFYING
from storage.models.core import Submission
from storage.models.moderation import Moderation
from storage.models.visibility import Visibility
from storage.moderation import removed_entries
from storage.visibility import anonymous_ids, unpublished
from storage.visibility import pending_approval_ids as not_let_through


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
    rows = session.execute(
        select(Moderation, Submission.model, Submission.version)
        .join(Submission, Submission.id == Moderation.submission_id)
        .where(Submission.benchmark == benchmark)
        .order_by(Submission.created_at, Submission.id)
    )
    gone = {removed_entry.entry: removed_entry for removed_entry in removed_entries(session)}
    unseen = set(session.scalars(unpublished()))
    waiting = set(session.scalars(not_let_through()))
    off: set[str] = set()
    hidden: set[str] = set()
    fields: dict[str, dict[str, Any]] = {}
    stubs: list[dict[str, Any]] = []
    for held, model, version in rows:
        name = held.submission_id
        out = gone.get(name)
        if out is not None:
            off.add(name)
            stub = out.stub(model, version)
            if stub is None:
                hidden.add(name)
            elif name not in unseen | waiting:
                stubs.append(stub)
        if held.verified_at is not None or held.flag is not None:
            verified = None if held.verified_at is None else iso(held.verified_at)
            fields[name] = {"verified_at": verified, "flag": held.flag}
    return ModerationState(
        frozenset(off | unseen),
        fields,
        stubs=stubs,
        unpublished=frozenset(unseen - hidden),
        anonymous=_anonymous(session),
    )


def _anonymous(session: Session) -> dict[str, str]:
    rows = session.execute(
        select(Visibility.submission_id, Visibility.anonymous_until).where(
            Visibility.submission_id.in_(anonymous_ids())
        )
    )
    return {name: iso(until) for name, until in rows if until is not None}
