"""What maintainers and owners decided about entries, as the snapshot shows it: who is off the board, who is not named,
marks, and stubs. What stays out of a snapshot here is in no page, route, export or feed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.maintenance_tables import Moderation
from storage.moderation import entries_off
from storage.policy_tables import Visibility
from storage.tables import Submission
from storage.visibility import IDENTIFYING, unnamed, unpublished
from storage.visibility import held as not_let_through


class Marks(NamedTuple):
    """``off``: entries that are not on the board. ``fields``: what is added to an entry's facts, where there is any.

    ``stubs``: what is left of entries that were withdrawn or merged; hidden and unpublished ones, and those
    that no maintainer has let through, leave nothing.
    ``unpublished``: entries that their owners hold back, but for those that maintainers have hidden.
    ``unnamed``: entries whose owner is not told, and until when (ISO).
    """

    off: frozenset[str]
    fields: dict[str, dict[str, Any]]
    stubs: list[dict[str, Any]]
    unpublished: frozenset[str]
    unnamed: dict[str, str]

    def of(self, entry: str) -> dict[str, Any]:
        """``verified_at`` and ``flag`` of an entry; None where it has none."""
        return self.fields.get(entry, _NO_MARKS)

    def public(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The facts of an entry that anybody may see, with ``anonymous_until``: None where its owner is named."""
        until = self.unnamed.get(facts["id"])
        # How many attempts the account has made would tell which other entries are theirs.
        secret = {name: None for name in (*IDENTIFYING, "attempts") if name in facts} if until is not None else {}
        return {**facts, **secret, "anonymous_until": until}


_NO_MARKS: dict[str, Any] = {"verified_at": None, "flag": None}


def marks(session: Session, benchmark: str) -> Marks:
    """All decisions that hold now."""
    rows = session.execute(
        select(Moderation, Submission.model, Submission.version)
        .join(Submission, Submission.id == Moderation.submission_id)
        .where(Submission.benchmark == benchmark)
        .order_by(Submission.created_at, Submission.id)
    )
    gone = {one.entry: one for one in entries_off(session)}
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
    return Marks(frozenset(off | unseen), fields, stubs, frozenset(unseen - hidden), _unnamed(session))


def _unnamed(session: Session) -> dict[str, str]:
    rows = session.execute(
        select(Visibility.submission_id, Visibility.anonymous_until).where(Visibility.submission_id.in_(unnamed()))
    )
    return {name: iso(until) for name, until in rows if until is not None}
