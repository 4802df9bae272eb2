"""SQL of webhooks: the address of each account, and the queue of messages to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.integrity import audit
from storage.jobs.outgoing_queue import OutgoingQueue
from storage.models.core import Account, State
from storage.models.notifications import OutgoingWebhook, Webhook
from storage.notifications import something_new

MOST_FAILURES = 10  # attempts in a row, after which a webhook is switched off
TESTS_SECONDS = 3_600.0
_NO_SYNC = {"synchronize_session": False}


class NewWebhook(NamedTuple):
    """An address that an account states. `address` and `secret` are encrypted."""

    account: str
    id: str
    address: bytes
    secret: bytes
    language: str
    events: Sequence[str]


class StoredWebhook(NamedTuple):
    """The webhook of an account. `address` and `secret` are encrypted."""

    account: str
    id: str
    address: bytes
    secret: bytes
    language: str
    events: Sequence[str]
    seen_seq: int
    stopped_at: float | None


class NewMessage(NamedTuple):
    """A message to be sent: its id for the receiver, and its JSON."""

    message_id: str
    payload: Mapping[str, Any]


class WebhookClaim(NamedTuple):
    """A message that a sender holds until its lease ends."""

    id: int
    epoch: int
    account: str
    webhook: str
    message_id: str
    payload: Mapping[str, Any]
    is_test: bool
    attempts: int


class LastMessage(NamedTuple):
    """How the newest attempt to reach a webhook ended; `reason`: code of what failed, "" where nothing did."""

    reason: str
    at: float
    waits: bool  # for its first attempt


_WEBHOOK = tuple(getattr(Webhook, name) for name in StoredWebhook._fields)
_MESSAGES = OutgoingQueue(OutgoingWebhook, WebhookClaim._fields)


def webhook(session: Session, account: str) -> StoredWebhook | None:
    """Return the webhook of an account; None where the account is banned, too."""
    row = session.execute(select(*_WEBHOOK).where(Webhook.account == account, _not_banned())).first()
    return None if row is None else StoredWebhook(*row)


def replace(session: Session, new: NewWebhook) -> None:
    """Replace the webhook of an account; it hears of what happens from now on."""
    remove(session, new.account)
    values = {**new._asdict(), "events": list(new.events), "seen_seq": audit.head(session).seq}
    session.execute(insert(Webhook).values(**values))


def change(session: Session, account: str, *, events: Sequence[str], language: str) -> None:
    """State what an account wants to hear of, and switch its webhook on again if it was switched off."""
    values: dict[str, Any] = {"events": list(events), "language": language}
    own = update(Webhook).where(Webhook.account == account)
    session.execute(own.values(**values), execution_options=_NO_SYNC)
    again: dict[str, Any] = {"stopped_at": None, "failures": 0, "seen_seq": audit.head(session).seq}
    session.execute(own.where(Webhook.stopped_at.is_not(None)).values(**again), execution_options=_NO_SYNC)


def remove(session: Session, account: str) -> None:
    """Delete the webhook of an account, and what waits to be sent. Tests stay for a while, so that they are counted."""
    own = delete(Webhook).where(Webhook.account == account).returning(Webhook.id)
    removed = session.execute(own, execution_options=_NO_SYNC).scalar_one_or_none()
    session.execute(delete(OutgoingWebhook).where(*_waiting(removed)), execution_options=_NO_SYNC)


def _waiting(webhook_id: str | None) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of the messages that wait to be sent to a webhook, without tests."""
    queued = OutgoingWebhook.state == State.QUEUED.value
    return OutgoingWebhook.webhook == webhook_id, queued, OutgoingWebhook.is_test.is_(False)


def news(session: Session, always: Sequence[str]) -> list[StoredWebhook]:
    """Return webhooks of accounts that something may have happened to, as notifications.news."""
    running = (Webhook.stopped_at.is_(None), _not_banned())
    rows = session.execute(select(*_WEBHOOK).where(*running, something_new(Webhook, always)))
    return [StoredWebhook(*row) for row in rows]


def _not_banned() -> ColumnElement[bool]:
    return ~exists().where(Account.id == Webhook.account, Account.banned_at.is_not(None))


def queue(session: Session, seen: StoredWebhook, *, through: int, messages: Sequence[NewMessage]) -> bool:
    """Move what a webhook has seen forward and queue the messages, in one transaction.

    Return False where another process was faster: then nothing is queued.
    """
    unchanged = (Webhook.id == seen.id, Webhook.seen_seq == seen.seen_seq, Webhook.stopped_at.is_(None))
    moved = update(Webhook).where(*unchanged).values(seen_seq=through).returning(Webhook.id)
    if session.execute(moved, execution_options=_NO_SYNC).first() is None:
        return False
    for message in messages:
        _insert(session, seen, message=message, is_test=False)
    return True


def queue_test(session: Session, seen: StoredWebhook, *, message: NewMessage) -> None:
    """Queue a message that says nothing but that it is a test."""
    _insert(session, seen, message=message, is_test=True)


def _insert(session: Session, to: StoredWebhook, *, message: NewMessage, is_test: bool) -> None:
    about = {"account": to.account, "webhook": to.id, "is_test": is_test}
    session.execute(insert(OutgoingWebhook).values(**about, **message._asdict()))


def now(session: Session) -> float:
    """Return seconds since 1970 on the database's clock."""
    return session.execute(select(database_now())).scalar_one()


def recent_tests(session: Session, account: str) -> int:
    """Return how many tests an account asked for within TESTS_SECONDS."""
    lately = OutgoingWebhook.created_at > database_now() - TESTS_SECONDS
    own = (OutgoingWebhook.account == account, OutgoingWebhook.is_test.is_(True), lately)
    return session.execute(select(func.count()).select_from(OutgoingWebhook).where(*own)).scalar_one()


def last_message(session: Session, webhook_id: str) -> LastMessage | None:
    """Return the newest message to a webhook: one that was tried, or a test that waits; None where there is none."""
    row = OutgoingWebhook
    tried = (row.webhook == webhook_id, row.started_at.is_not(None) | row.is_test.is_(True))
    at = func.coalesce(row.finished_at, row.started_at, row.created_at)
    newest = select(row.reason, at, row.state, row.started_at).where(*tried).order_by(at.desc(), row.id.desc())
    newest_row = session.execute(newest.limit(1)).first()
    if newest_row is None:
        return None
    reason, when, state, started = newest_row
    return LastMessage(reason, when, waits=state == State.RUNNING.value or started is None)


def claim(session: Session, sender: str, *, lease_seconds: float) -> WebhookClaim | None:
    """Take the first message that is due; None where there is none."""
    taken = _MESSAGES.claim(session, sender, lease_seconds=lease_seconds)
    return None if taken is None else WebhookClaim(*taken)


def any_due(session: Session) -> bool:
    """Return whether claim would find a message; for a look without a write transaction."""
    return _MESSAGES.any_due(session)


def finish(session: Session, held: WebhookClaim, *, delivered: bool) -> None:
    """Mark a message done: delivered, or wanted by nobody any more. Raises LeaseLost."""
    _MESSAGES.finish(session, held, payload={}, reason="")
    if delivered:
        known = update(Webhook).where(Webhook.id == held.webhook, Webhook.failures > 0)
        session.execute(known.values(failures=0), execution_options=_NO_SYNC)


def fail(session: Session, held: WebhookClaim, *, why: str, gone: bool) -> bool:
    """End an attempt that did not work; return whether the webhook was switched off for it.

    The other messages wait as long as this one, so that an address that is away costs one attempt a turn. A test is
    tried once and counts as nothing. `gone`: the receiver asks for no more. Raises LeaseLost.
    """
    wait = _MESSAGES.fail(session, held, why=why, retry=not (held.is_test or gone))
    if held.is_test:
        return False
    if wait is not None:
        later = database_now() + wait
        others = update(OutgoingWebhook).where(*_waiting(held.webhook), OutgoingWebhook.due_at < later)
        session.execute(others.values(due_at=later), execution_options=_NO_SYNC)
    known = update(Webhook).where(Webhook.id == held.webhook).values(failures=Webhook.failures + 1)
    failures = session.execute(known.returning(Webhook.failures), execution_options=_NO_SYNC).scalar_one_or_none()
    if failures is None or (failures < MOST_FAILURES and not gone):
        return False
    stopped = update(Webhook).where(Webhook.id == held.webhook).values(stopped_at=database_now())
    session.execute(stopped, execution_options=_NO_SYNC)
    session.execute(delete(OutgoingWebhook).where(*_waiting(held.webhook)), execution_options=_NO_SYNC)
    return True


def release_expired(session: Session) -> int:
    """Give messages back whose sender is gone; forget old ones. Return how many."""
    return _MESSAGES.release_expired(session)
