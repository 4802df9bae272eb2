"""SQL of e-mail notifications: subscriptions, and the queue of e-mails, with claims and leases as of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.integrity import audit
from storage.jobs import leases
from storage.jobs.leases import Lease
from storage.models.core import AuditEvent, EventSubject, Submission
from storage.models.queue import EmailSubscription, OutgoingEmail, State

ASKED_SECONDS = 86_400.0
KEPT_SECONDS = 30 * 86_400.0
_BACKOFF_SECONDS = (60.0, 300.0, 1_800.0, 7_200.0)


def subscription(session: Session, account: str) -> EmailSubscription | None:
    """Return the address of an account."""
    return session.get(EmailSubscription, account)


def subscription_by_id(session: Session, subscription_id: str) -> EmailSubscription | None:
    """Return an address by its random id."""
    return session.scalars(select(EmailSubscription).filter_by(id=subscription_id)).first()


def requests(session: Session, account: str, *, address_key: str) -> tuple[int, int]:
    """Return how many confirmations were asked for lately: by an account, and for an address."""
    lately = (OutgoingEmail.through_seq == 0, OutgoingEmail.created_at > database_now() - ASKED_SECONDS)
    count = select(func.count()).select_from(OutgoingEmail).where(*lately)
    by_account = session.execute(count.where(OutgoingEmail.account == account)).scalar_one()
    return by_account, session.execute(count.where(OutgoingEmail.address_key == address_key)).scalar_one()


def subscribe(session: Session, account: str, *, address_key: str, **values: Any) -> None:
    """Replace the address of an account, and queue the e-mail that asks for its confirmation.

    `values`: id, address and language of the new one.
    """
    unsubscribe(session, account)
    session.execute(insert(EmailSubscription).values(account=account, **values))
    _add(session, account=account, subscription=values["id"], address_key=address_key, through_seq=0, lines=[])


def confirm(session: Session, subscription_id: str) -> None:
    """Begin to send: of what happens from now on."""
    values = {"confirmed_at": database_now(), "seen_seq": audit.head(session).seq}
    unconfirmed = (EmailSubscription.id == subscription_id, EmailSubscription.confirmed_at.is_(None))
    change_rows(session, update(EmailSubscription).where(*unconfirmed).values(**values))


def unsubscribe(session: Session, account: str) -> None:
    """Delete the address of an account. Requests stay for a while, without it, so that they can be counted."""
    change_rows(session, delete(EmailSubscription).where(EmailSubscription.account == account))


def news(session: Session, always: Sequence[str]) -> Sequence[EmailSubscription]:
    """Return confirmed addresses of accounts that something may have happened to since they were last looked at.

    `always`: kinds of events that may concern everybody.
    """
    confirmed = EmailSubscription.confirmed_at.is_not(None)
    return session.scalars(select(EmailSubscription).where(confirmed, _something_new(always))).all()


def _something_new(always: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that an event may concern the account of an address, after those that it has seen."""
    seeing = EmailSubscription
    newer = AuditEvent.seq > seeing.seen_seq
    about_own = (
        select(AuditEvent.seq)
        .join(EventSubject, EventSubject.seq == AuditEvent.seq)
        .join(Submission, Submission.id == EventSubject.subject)
        .where(newer, Submission.owner == seeing.account)
        .correlate(seeing)
    )
    about_all = select(AuditEvent.seq).where(newer, AuditEvent.kind.in_(list(always))).correlate(seeing)
    return about_own.exists() | about_all.exists()


def queue(
    session: Session, seen: EmailSubscription, *, through: int, lines: Sequence[dict[str, Any]], address_key: str
) -> bool:
    """Move what an address has seen forward, and queue an e-mail if there are lines, in one transaction.

    Return False where another process was faster: then nothing is queued.
    """
    unchanged = (EmailSubscription.id == seen.id, EmailSubscription.seen_seq == seen.seen_seq)
    if not change_rows(session, update(EmailSubscription).where(*unchanged).values(seen_seq=through)):
        return False
    if lines:
        about = {"account": seen.account, "subscription": seen.id, "address_key": address_key}
        _add(session, **about, through_seq=through, lines=list(lines))
    return True


def claim(session: Session, sender: str, *, lease_seconds: float) -> OutgoingEmail | None:
    """Take the first e-mail that is due; None where there is none."""
    first = select(OutgoingEmail).where(*_due()).order_by(OutgoingEmail.due_at, OutgoingEmail.id)
    return leases.claim(session, first, lease=Lease(sender, lease_seconds))


def any_due(session: Session) -> bool:
    """Return whether claim would find an e-mail; for a look without a write transaction."""
    return session.scalars(select(OutgoingEmail.id).where(*_due()).limit(1)).first() is not None


def _due() -> tuple[ColumnElement[bool], ...]:
    return (OutgoingEmail.state == State.QUEUED.value, OutgoingEmail.due_at <= database_now())


def fail(session: Session, held: OutgoingEmail, *, why: str, retry: bool) -> None:
    """End an attempt that did not work: again later, each time later, or failed for good. Raises LeaseLost."""
    wait = _BACKOFF_SECONDS[min(held.attempts, len(_BACKOFF_SECONDS)) - 1]
    leases.fail(session, held, outcome=why, retry=retry, due_at=database_now() + wait)


def _add(session: Session, **values: Any) -> None:
    """Queue an e-mail, and forget old ones."""
    old = (OutgoingEmail.finished_at.is_not(None), OutgoingEmail.created_at < database_now() - KEPT_SECONDS)
    change_rows(session, delete(OutgoingEmail).where(*old))
    session.execute(insert(OutgoingEmail), [values])


def last_failed(session: Session, subscription_id: str) -> bool:
    """Return whether the newest e-mail to an address that was tried to its end has failed."""
    ended = (OutgoingEmail.subscription == subscription_id, OutgoingEmail.finished_at.is_not(None))
    newest = select(OutgoingEmail.state).where(*ended).order_by(OutgoingEmail.id.desc()).limit(1)
    return session.scalars(newest).first() == State.FAILED.value
