"""Visibility and approval of submissions: whether they may be scored, shown, and shown with their owner.

* held: waits for a maintainer, or was rejected; no label may be touched.
* unpublished: not on the board until its owner says so; scored and counted all the same.
* anonymous: on the board, without account, organisation and links.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.integrity import audit
from storage.models.visibility import Approval, Visibility
from vlrb.common.messages import _, joined
from vlrb.file_remarks import BASELINE_VOTES, ONE_SIDED_VOTES

PUBLISHED, REVEALED, ANONYMOUS = "entry.published", "entry.revealed", "entry.anonymous"
WAITING, APPROVED, REJECTED = "waiting", "approved", "rejected"
FIRST_UPLOAD = "first-upload"
APPROVAL_REASONS: Mapping[str, str] = MappingProxyType(
    {
        FIRST_UPLOAD: _("it is the first submission of its account"),
        BASELINE_VOTES: _("its votes are those of a baseline, which needs no judge"),
        ONE_SIDED_VOTES: _("nearly all its votes are the same"),
    }
)
"""Why a submission waits, by code."""
_UNPUBLISHED = (Visibility.held_back_at.is_not(None), Visibility.published_at.is_(None))
_UNNAMED = (Visibility.anonymous_until.is_not(None), Visibility.revealed_at.is_(None))


class EntryVisibility(NamedTuple):
    """Current visibility of an entry. `anonymous_until`: seconds since 1970 UTC; None: named."""

    anonymous_until: float | None = None
    published: bool = True


PLAIN = EntryVisibility()


def approval_words(codes: Sequence[str]) -> str:
    """Return why a submission waits, in words; "" without a code that is known."""
    return joined([APPROVAL_REASONS[code] for code in codes if code in APPROVAL_REASONS], _("; "))


def pending_approval_ids() -> Select[str]:
    """Return ids of the submissions that must not be scored, for a subquery."""
    return select(Approval.submission_id).where(Approval.state != APPROVED)


def unpublished() -> Select[str]:
    """Return ids of the submissions whose owner has not published them yet, for a subquery."""
    return select(Visibility.submission_id).where(*_UNPUBLISHED)


def anonymous_ids() -> Select[str]:
    """Return ids of the submissions whose owner must not be named, for a subquery."""
    return select(Visibility.submission_id).where(*_UNNAMED)


def of(session: Session, submission: str) -> EntryVisibility:
    """Return how a submission is shown."""
    return many(session, [submission]).get(submission, PLAIN)


def many(session: Session, submissions: Collection[str]) -> dict[str, EntryVisibility]:
    """Return how submissions are shown; those that nobody asked anything for are left out."""
    dates = (Visibility.anonymous_until, Visibility.revealed_at, Visibility.held_back_at, Visibility.published_at)
    those = Visibility.submission_id.in_(submissions)
    rows = session.execute(select(Visibility.submission_id, *dates).where(those))
    return {
        name: EntryVisibility(until if revealed is None else None, held_back is None or published is not None)
        for name, until, revealed, held_back, published in rows
    }


def approvals(session: Session, submissions: Collection[str]) -> dict[str, tuple[str, str | None]]:
    """Submission -> state of its approval and the reason; those that needed none are left out."""
    rows = session.execute(
        select(Approval.submission_id, Approval.state, Approval.reason).where(Approval.submission_id.in_(submissions))
    )
    return {name: (state, reason) for name, state, reason in rows}


def request_approval(session: Session, submission: str, *, shown: EntryVisibility, approval: bool) -> None:
    """Record what holds for a new submission: how it is shown, and whether a maintainer has to approve it."""
    if shown != PLAIN:
        held_back = None if shown.published else database_now()
        session.execute(
            insert(Visibility).values(
                submission_id=submission, anonymous_until=shown.anonymous_until, held_back_at=held_back
            )
        )
    if approval:
        session.execute(insert(Approval).values(submission_id=submission, state=WAITING))


def record_decision(session: Session, submission: str, *, state: str, by: str, reason: str) -> None:
    """Write a maintainer's decision about an approval."""
    values = {"state": state, "decided_at": database_now(), "decided_by": by, "reason": reason}
    change_rows(session, update(Approval).where(Approval.submission_id == submission).values(**values))


def publish(session: Session, submission: str, **facts: Any) -> bool:
    """Put an entry on the board, on record; False where it is there already."""
    return _change(
        session, submission, rule=_UNPUBLISHED, values={"published_at": database_now()}, event=PUBLISHED, facts=facts
    )


def end_anonymity(session: Session, submission: str, **facts: Any) -> bool:
    """End an owner's anonymity, on record; False where there is none."""
    return _change(
        session, submission, rule=_UNNAMED, values={"revealed_at": database_now()}, event=REVEALED, facts=facts
    )


def extend_anonymity(session: Session, submission: str, *, until: float, **facts: Any) -> bool:
    """Move the end of an anonymity that still holds, on record; False where none does, or it ends then already."""
    rule = (*_UNNAMED, Visibility.anonymous_until != until)
    return _change(session, submission, rule=rule, values={"anonymous_until": until}, event=ANONYMOUS, facts=facts)


def has_due(session: Session) -> bool:
    """Return whether reveal_due would do something; for a look without a write transaction."""
    return session.scalars(_due().limit(1)).first() is not None


def reveal_due(session: Session) -> int:
    """End every anonymity whose time has come; returns how many. Several may do this at once."""
    # All rows are locked before the first event: a transaction that holds one of them and waits for the audit chain
    # would else wait for us, and we for them.
    return sum(end_anonymity(session, name) for name in session.scalars(_due().with_for_update()).all())


def _due() -> Select[str]:
    overdue = select(Visibility.submission_id).where(*_UNNAMED, Visibility.anonymous_until <= database_now())
    return overdue.order_by(Visibility.submission_id)


def _change(
    session: Session,
    submission: str,
    *,
    rule: Sequence[ColumnElement[bool]],
    values: Mapping[str, Any],
    event: str,
    facts: Mapping[str, Any],
) -> bool:
    """Return whether this call changed it. The rule is part of the statement: of two at once, one changes something."""
    changed = change_rows(
        session, update(Visibility).where(Visibility.submission_id == submission, *rule).values(**values)
    )
    if changed:
        audit.append(session, event, data={"entry": submission, **facts})
    return changed
