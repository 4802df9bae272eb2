"""Which submissions may be scored, shown, and shown with who made them: asked here by everybody, decided once.

* held: waits for a maintainer, or was rejected; no label may be touched.
* unpublished: not on the board until its owner says so; scored and counted all the same.
* unnamed: on the board, without account, organisation and links.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, insert, select, update
from sqlalchemy.orm import Session

from storage import audit
from storage.clock import database_now
from storage.policy_tables import Approval, Visibility

PUBLISHED, REVEALED, ANONYMOUS = "entry.published", "entry.revealed", "entry.anonymous"
WAITING, APPROVED, REJECTED = "waiting", "approved", "rejected"
IDENTIFYING = ("organisation", "link", "paper", "code", "hub_id", "judge")
"""Fields that say who made a submission."""

_NO_SYNC = {"synchronize_session": False}
_UNPUBLISHED = (Visibility.held_back_at.is_not(None), Visibility.published_at.is_(None))
_UNNAMED = (Visibility.anonymous_until.is_not(None), Visibility.revealed_at.is_(None))


class Shown(NamedTuple):
    """What an owner asked for, as far as it still holds. `anonymous_until`: seconds since 1970 UTC; None: named."""

    anonymous_until: float | None = None
    published: bool = True


PLAIN = Shown()


def held() -> Select[str]:
    """Ids of the submissions that must not be scored, for a subquery."""
    return select(Approval.submission_id).where(Approval.state != APPROVED)


def unpublished() -> Select[str]:
    """Ids of the submissions whose owner has not published them yet, for a subquery."""
    return select(Visibility.submission_id).where(*_UNPUBLISHED)


def unnamed() -> Select[str]:
    """Ids of the submissions whose owner is not to be told, for a subquery."""
    return select(Visibility.submission_id).where(*_UNNAMED)


def of(session: Session, submission: str) -> Shown:
    """How a submission is shown."""
    return many(session, [submission]).get(submission, PLAIN)


def many(session: Session, submissions: Collection[str]) -> dict[str, Shown]:
    """How submissions are shown; those that nobody asked anything for are left out."""
    rows = session.execute(
        select(
            Visibility.submission_id,
            Visibility.anonymous_until,
            Visibility.revealed_at,
            Visibility.held_back_at,
            Visibility.published_at,
        ).where(Visibility.submission_id.in_(submissions))
    )
    return {
        name: Shown(until if revealed is None else None, held_back is None or published is not None)
        for name, until, revealed, held_back, published in rows
    }


def approvals(session: Session, submissions: Collection[str]) -> dict[str, tuple[str, str | None]]:
    """Submission -> state of its approval and the reason; those that needed none are left out."""
    rows = session.execute(
        select(Approval.submission_id, Approval.state, Approval.reason).where(Approval.submission_id.in_(submissions))
    )
    return {name: (state, reason) for name, state, reason in rows}


def ask(session: Session, submission: str, shown: Shown, *, approval: bool) -> None:
    """Records what holds for a new submission: how it is shown, and whether a maintainer has to let it through."""
    if shown != PLAIN:
        held_back = None if shown.published else database_now()
        session.execute(
            insert(Visibility).values(
                submission_id=submission, anonymous_until=shown.anonymous_until, held_back_at=held_back
            )
        )
    if approval:
        session.execute(insert(Approval).values(submission_id=submission, state=WAITING))


def decide(session: Session, submission: str, state: str, by: str, reason: str) -> None:
    """Writes a maintainer's decision about an approval."""
    values = {"state": state, "decided_at": database_now(), "decided_by": by, "reason": reason}
    session.execute(
        update(Approval).where(Approval.submission_id == submission).values(**values), execution_options=_NO_SYNC
    )


def publish(session: Session, submission: str, **facts: Any) -> bool:
    """Puts an entry on the board, on record; False where it is there already."""
    return _change(session, submission, _UNPUBLISHED, {"published_at": database_now()}, PUBLISHED, facts)


def reveal(session: Session, submission: str, **facts: Any) -> bool:
    """Ends an owner's anonymity, on record; False where there is none."""
    return _change(session, submission, _UNNAMED, {"revealed_at": database_now()}, REVEALED, facts)


def postpone(session: Session, submission: str, until: float, **facts: Any) -> bool:
    """Moves the end of an anonymity that still holds, on record; False where none does, or it ends then already."""
    rule = (*_UNNAMED, Visibility.anonymous_until != until)
    return _change(session, submission, rule, {"anonymous_until": until}, ANONYMOUS, facts)


def any_due(session: Session) -> bool:
    """Whether reveal_due would do something; for a look without a write transaction."""
    return session.scalars(_due().limit(1)).first() is not None


def reveal_due(session: Session) -> int:
    """Ends every anonymity whose time has come; returns how many. Several may do this at once."""
    # All rows are locked before the first event: whoever holds one of them and waits for the audit chain would else
    # wait for us, and we for them.
    return sum(reveal(session, name) for name in session.scalars(_due().with_for_update()).all())


def _due() -> Select[str]:
    overdue = select(Visibility.submission_id).where(*_UNNAMED, Visibility.anonymous_until <= database_now())
    return overdue.order_by(Visibility.submission_id)


def _change(
    session: Session,
    submission: str,
    rule: Sequence[ColumnElement[bool]],
    values: Mapping[str, Any],
    event: str,
    facts: Mapping[str, Any],
) -> bool:
    """The rule is part of the statement, so of two who do the same at once one changes something."""
    changed = session.execute(
        update(Visibility)
        .where(Visibility.submission_id == submission, *rule)
        .values(**values)
        .returning(Visibility.submission_id),
        execution_options=_NO_SYNC,
    ).first()
    if changed is not None:
        audit.append(session, event, {"entry": submission, **facts})
    return changed is not None
