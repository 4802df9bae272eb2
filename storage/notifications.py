"""SQL of e-mail notifications: subscriptions, and the queue of e-mails, with claims and leases as of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.integrity import audit
from storage.jobs import leases
from storage.jobs.leases import Lease
from storage.models.core import AuditEvent, EventSubject, Submission
from storage.models.queue import EmailSubscription, OutgoingEmail, State

ASKED_SECONDS = 86_400.0
KEPT_SECONDS = 30 * 86_400.0
_BACKOFF_SECONDS = (60.0, 300.0, 1_800.0, 7_200.0)
_NO_SYNC = {"synchronize_session": False}


class NewSubscription(NamedTuple):
    """An address that an account states. `address` is encrypted."""

    account: str
    id: str
    address: bytes
    address_key: str
    language: str


class StoredSubscription(NamedTuple):
    """An address of an account. `address` is encrypted."""

    account: str
    id: str
    address: bytes
    language: str
    seen_seq: int
    confirmed_at: float | None


_SUBSCRIPTION = tuple(getattr(EmailSubscription, name) for name in StoredSubscription._fields)


def subscription(session: Session, account: str) -> StoredSubscription | None:
    """Return the address of an account."""
    return _first(session, EmailSubscription.account == account)


def subscription_by_id(session: Session, subscription_id: str) -> StoredSubscription | None:
    """Return an address by its random id."""
    return _first(session, EmailSubscription.id == subscription_id)


def _first(session: Session, condition: Any) -> StoredSubscription | None:
    row = session.execute(select(*_SUBSCRIPTION).where(condition)).first()
    return None if row is None else StoredSubscription(*row)


def requests(session: Session, account: str, *, address_key: str) -> tuple[int, int]:
    """Return how many confirmations were asked for lately: by an account, and for an address."""
    lately = (OutgoingEmail.through_seq == 0, OutgoingEmail.created_at > database_now() - ASKED_SECONDS)
    count = select(func.count()).select_from(OutgoingEmail).where(*lately)
    by_account = session.execute(count.where(OutgoingEmail.account == account)).scalar_one()
    return by_account, session.execute(count.where(OutgoingEmail.address_key == address_key)).scalar_one()


def subscribe(session: Session, new: NewSubscription) -> None:
    """Replace the address of an account, and queue the e-mail that asks for its confirmation."""
    unsubscribe(session, new.account)
    values = {name: getattr(new, name) for name in ("account", "id", "address", "language")}
    session.execute(insert(EmailSubscription).values(**values, seen_seq=0))
    asked = {"account": new.account, "subscription": new.id, "address_key": new.address_key}
    _add(session, **asked, through_seq=0, lines=[])


def confirm(session: Session, subscription_id: str) -> None:
    """Begin to send: of what happens from now on."""
    values = {"confirmed_at": database_now(), "seen_seq": audit.head(session).seq}
    unconfirmed = (EmailSubscription.id == subscription_id, EmailSubscription.confirmed_at.is_(None))
    session.execute(update(EmailSubscription).where(*unconfirmed).values(**values), execution_options=_NO_SYNC)


def unsubscribe(session: Session, account: str) -> None:
    """Delete the address of an account. Requests stay for a while, without it, so that they can be counted."""
    session.execute(delete(EmailSubscription).where(EmailSubscription.account == account), execution_options=_NO_SYNC)


def news(session: Session, always: Sequence[str]) -> list[StoredSubscription]:
    """Return confirmed addresses of accounts that something may have happened to since they were last looked at.

    `always`: kinds of events that may concern everybody.
    """
    confirmed = EmailSubscription.confirmed_at.is_not(None)
    rows = session.execute(select(*_SUBSCRIPTION).where(confirmed, _something_new(always)))
    return [StoredSubscription(*row) for row in rows]


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
    session: Session, seen: StoredSubscription, *, through: int, lines: Sequence[dict[str, Any]], address_key: str
) -> bool:
    """Move what an address has seen forward, and queue an e-mail if there are lines, in one transaction.

    Return False where another process was faster: then nothing is queued.
    """
    unchanged = (EmailSubscription.id == seen.id, EmailSubscription.seen_seq == seen.seen_seq)
    moved = update(EmailSubscription).where(*unchanged).values(seen_seq=through).returning(EmailSubscription.id)
    if session.execute(moved, execution_options=_NO_SYNC).first() is None:
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
    session.execute(delete(OutgoingEmail).where(*old), execution_options=_NO_SYNC)
    session.execute(insert(OutgoingEmail), [values])


def last_failed(session: Session, subscription_id: str) -> bool:
    """Return whether the newest e-mail to an address that was tried to its end has failed."""
    ended = (OutgoingEmail.subscription == subscription_id, OutgoingEmail.finished_at.is_not(None))
    newest = select(OutgoingEmail.state).where(*ended).order_by(OutgoingEmail.id.desc()).limit(1)
    return session.scalars(newest).first() == State.FAILED.value
