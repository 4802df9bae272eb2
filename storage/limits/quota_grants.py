"""SQL of quota grants: extra submissions of an account."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, exists, func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.models.core import Account, Score
from storage.models.operations import QuotaGrant, QuotaGrantUse
from storage.models.queue import Job, State

_TO_COME = (State.QUEUED.value, State.RUNNING.value)


class GrantStatus(NamedTuple):
    """So many extra submissions, of which some are used. What the service failed to score counts as not used."""

    id: int
    account: str
    extra: int
    used: int
    reason: str
    granted_by: str
    granted_at: float
    revoked_at: float | None

    @property
    def left(self) -> int:
        """Number of submissions left."""
        return 0 if self.revoked_at is not None else max(0, self.extra - self.used)


def add(session: Session, account: str, *, extra: int, reason: str, by: str) -> int:
    """Return the grant's number."""
    row = {"account": account, "extra": extra, "reason": reason, "granted_by": by}
    return int(session.execute(insert(QuotaGrant).values(**row).returning(QuotaGrant.id)).scalar_one())


def unused(session: Session, account: str, *, extra: int, reason: str) -> int | None:
    """Return a grant that says the same and was not used yet, so that a second one is a double click; None without one.

    From here to the end of the transaction nobody else gets further with this account.
    """
    session.execute(select(Account.id).where(Account.id == account).with_for_update())
    same = (grant for grant in list_grants(session, account) if (grant.extra, grant.reason) == (extra, reason))
    return next((grant.id for grant in same if grant.left == extra), None)


def revoke(session: Session, grant: int) -> bool:
    """End a grant; what was taken on it stays. False where there is none, or it has ended."""
    ended = session.execute(
        update(QuotaGrant)
        .where(QuotaGrant.id == grant, QuotaGrant.revoked_at.is_(None))
        .values(revoked_at=database_now())
        .returning(QuotaGrant.id),
        execution_options={"synchronize_session": False},
    )
    return ended.first() is not None


def list_grants(session: Session, account: str | None = None) -> list[GrantStatus]:
    """Return the newest first; of one account or of all."""
    columns = (_used() if name == "used" else getattr(QuotaGrant, name) for name in GrantStatus._fields)
    wanted = select(*columns).order_by(QuotaGrant.id.desc())
    if account is not None:
        wanted = wanted.where(QuotaGrant.account == account)
    return [GrantStatus(*row) for row in session.execute(wanted)]


def available(session: Session, account: str) -> int | None:
    """Return the oldest grant that has something left; None where there is none."""
    return next((grant.id for grant in reversed(list_grants(session, account)) if grant.left), None)


def consume(session: Session, grant: int, *, submission: str) -> None:
    """Use one. The caller locks the account against simultaneous submissions."""
    session.execute(insert(QuotaGrantUse).values(grant_id=grant, submission_id=submission))


def counts_against_quota(submission_id: Any) -> ColumnElement[bool]:
    """Return the condition that an attempt was not taken on a grant, so that it counts against quotas."""
    return ~exists().where(QuotaGrantUse.submission_id == submission_id)


def was_refunded(submission_id: Any) -> ColumnElement[bool]:
    """Return the condition that the service failed to score an attempt, under every label revision that it tried."""
    failed = exists().where(Job.submission_id == submission_id, Job.state == State.FAILED.value)
    still_tried = exists().where(Job.submission_id == submission_id, Job.state.in_(_TO_COME))
    scored = exists().where(Score.submission_id == submission_id)
    return failed & ~still_tried & ~scored


def _used() -> ScalarSelect[int]:
    uses = select(func.count()).select_from(QuotaGrantUse)
    mine = QuotaGrantUse.grant_id == QuotaGrant.id
    return uses.where(mine, ~was_refunded(QuotaGrantUse.submission_id)).correlate(QuotaGrant).scalar_subquery()
