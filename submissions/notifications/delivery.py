"""E-mails about what the audit chain says of an account's entries: collected, composed and sent.

The chain is the outbox: an event is in it with the change itself. What an address has seen moves forward in the
transaction that queues its e-mail, so that no news is queued twice or lost. Sending is at least once: a process
that dies between the server's answer and its own commit sends again, under the same Message-ID.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial
from typing import Any

from operation.mail_server import MailDelayed, MailRefused, MailServer
from storage import notifications
from storage.database import Database
from storage.database_wait import log_away
from storage.integrity import audit
from storage.jobs import leases
from storage.jobs.leases import LeaseLost
from storage.models.queue import EmailSubscription, OutgoingEmail
from submissions.activity import RESCORED, ActivityItem, ActivityRules, activity_of
from submissions.notifications.subscriptions import EmailSubscriptions
from vlrb.common.messages import Message, _
from vlrb.common.translations import Translations, translations

INTERVAL_SECONDS = 5.0
MOST_LINES = 30
LEASE_SECONDS = 120.0  # longer than a mail server may take
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmailDelivery:
    """What sends e-mails: for all benchmarks (`rules`), in the name of `brand`. `name`: of this process."""

    database: Database
    subscriptions: EmailSubscriptions
    server: MailServer
    rules: Sequence[ActivityRules]
    brand: str
    name: str

    def collect(self) -> int:
        """Queue an e-mail to each address that has news; return how many were queued."""
        with self.database.read() as session:
            waiting, through = notifications.news(session, RESCORED), audit.head(session).seq
        return sum(
            self._collect_for(subscription, through) for subscription in waiting if subscription.seen_seq < through
        )

    def _collect_for(self, stored: EmailSubscription, through: int) -> bool:
        of = translations(stored.language)
        news = self._news_of(stored, through)
        path = "/account/submissions/"
        lines = [{"title": item.title, "text": of.text(item.sentence), "path": path + item.entry} for item in news]
        address = self.subscriptions.address(stored)
        key = self.subscriptions.address_key(address or "")
        with self.database.write() as session:
            queued = notifications.queue(
                session, stored, through=through, lines=lines if address else [], address_key=key
            )
        return queued and bool(lines and address)

    def _news_of(self, stored: EmailSubscription, through: int) -> list[ActivityItem]:
        """Return what an address has not seen, the oldest first."""
        items = [
            item
            for rules in self.rules
            for item in activity_of(self.database, stored.account, rules=rules, limit=2 * MOST_LINES)
            if stored.seen_seq < item.seq <= through and is_news(item, rules)
        ]
        return sorted(items, key=lambda item: item.seq)

    def send_due(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Send every e-mail that is due, until it is stopped; return how many the server took."""
        sent = 0
        with self.database.read() as session:
            waits = notifications.any_due(session)
        while waits and not stopped():
            with self.database.write() as session:
                claim = notifications.claim(session, self.name, lease_seconds=LEASE_SECONDS)
            if claim is None:
                break
            sent += self._send(claim)
        return sent

    def _send(self, claim: OutgoingEmail) -> bool:
        email = self.compose(claim)
        try:
            if email is not None:
                self.server.send(email)
        except (MailDelayed, MailRefused) as failed:
            self._failed(claim, str(failed), retry=isinstance(failed, MailDelayed))
            return False
        try:
            with self.database.write() as session:
                leases.finish(session, claim, lines=[])
        except LeaseLost:
            log.warning("email.lease_lost", extra={"data": {"email": claim.id}})
        return email is not None

    def _failed(self, claim: OutgoingEmail, why: str, *, retry: bool) -> None:
        log.warning("email.not_sent", extra={"data": {"email": claim.id, "reason": why}})
        with suppress(LeaseLost), self.database.write() as session:
            notifications.fail(session, claim, why=why, retry=retry)

    def compose(self, claim: OutgoingEmail) -> EmailMessage | None:
        """Return the e-mail; None where nobody wants it any more."""
        with self.database.read() as session:
            stored = notifications.subscription_by_id(session, claim.subscription)
        to = None if stored is None else self.subscriptions.address(stored)
        if stored is None or to is None or (stored.confirmed_at is None) != (claim.through_seq == 0):
            return None
        of, message_id = translations(stored.language), f"{claim.id}.{claim.subscription}"
        if claim.through_seq == 0:
            link = self.subscriptions.confirm_link(stored.id)
            subject, body = _confirmation(self.brand, link, of=of)
            return self.server.message(to, message_id, subject=subject, body=body)
        unsubscribe = self.subscriptions.unsubscribe_link(stored.id)
        subject = of.text(_news_subject(self.brand, claim.lines))
        body = _body(claim.lines, (self.subscriptions.site, unsubscribe), of=of)
        return self.server.message(to, message_id, subject=subject, body=body, unsubscribe=unsubscribe)

    async def run(self, stop: asyncio.Event) -> None:
        """Collect and send until told to stop."""
        while not stop.is_set():
            for step in (self.collect, partial(self.send_due, stop.is_set)):
                try:
                    await asyncio.to_thread(step)
                except Exception as error:  # of the database, say; the next round tries again
                    if not log_away(error):
                        log.exception("email.turn_failed")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), INTERVAL_SECONDS)


def is_news(item: ActivityItem, rules: ActivityRules) -> bool:
    """Return whether something is told: not what its owner did or asked for."""
    return not item.own and item.kind in (audit.SCORED, "job.failed", *RESCORED, *rules.sentences)


def _confirmation(brand: str, link: str, *, of: Translations) -> tuple[str, str]:
    subject = _("Confirm your e-mail address for the {brand} leaderboard", brand=brand)
    paragraphs = (
        _(
            "Somebody with an account on the {brand} leaderboard wants news of their entries at this address.",
            brand=brand,
        ),
        _("If that was you, open this link within two days, signed in to that account:"),
        link,
        _("If it was not you, do nothing: no more e-mails will come."),
    )
    return of.text(subject), "\n\n".join(map(of.text, paragraphs)) + "\n"


def _news_subject(brand: str, lines: Sequence[dict[str, Any]]) -> Message:
    titles = {line["title"] for line in lines}
    about = _("your entries") if len(titles) > 1 else next(iter(titles), "")
    return _("{brand} leaderboard: news of {about}", brand=brand, about=about)


def _body(lines: Sequence[dict[str, Any]], links: tuple[str, str], *, of: Translations) -> str:
    site, unsubscribe = links
    paragraphs = [f"{line['title']}\n{line['text']}\n{site}{line['path']}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        paragraphs.append(of.text(_("{count} more are in your account.", count=len(lines) - MOST_LINES)))
    paragraphs.append(
        "-- \n" + of.text(_("You asked for these e-mails in your account: {link}", link=f"{site}/account"))
    )
    paragraphs.append(of.text(_("Stop them: {link}", link=unsubscribe)))
    return "\n\n".join(paragraphs) + "\n"
