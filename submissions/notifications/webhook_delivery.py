"""Messages to webhooks about what the audit chain says of an account's entries: collected, signed and sent.

As with e-mails, the chain is the outbox and sending is at least once; each attempt of a message has the same
`webhook-id`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from operation.webhook_sender import SECONDS, DeliveryFailed, WebhookSender
from storage import webhooks
from storage.database import Database
from storage.jobs.leases import LeaseLost
from storage.webhooks import NewMessage, StoredWebhook, WebhookClaim
from submissions.activity import RESCORED, ActivityRules
from submissions.notifications.delivery_loop import run_delivery
from submissions.notifications.news import NewsItem, latest_seq, news_of
from submissions.notifications.webhooks import WebhookSubscriptions, message_id
from vlrb.common.translations import Translations, translations

LEASE_SECONDS = 4 * SECONDS
_GONE = "status-410"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """What sends to webhooks: for all benchmarks (`rules`). `site`: in front of links; `name`: of this process."""

    database: Database
    subscriptions: WebhookSubscriptions
    sender: WebhookSender
    rules: Sequence[ActivityRules]
    site: str
    name: str

    def collect(self) -> int:
        """Queue a message for each news of each webhook; return how many were queued."""
        with self.database.read() as session:
            waiting = webhooks.news(session, RESCORED)
        through = latest_seq(self.database) if waiting else 0
        return sum(self._collect_for(webhook, through) for webhook in waiting if webhook.seen_seq < through)

    def _collect_for(self, stored: StoredWebhook, through: int) -> int:
        of = translations(stored.language)
        items = news_of(self.database, self.rules, seen=stored, through=through)
        messages = [NewMessage(message_id(), payload(item, self.site, of=of)) for item in items]
        with self.database.write() as session:
            queued = webhooks.queue(session, stored, through=through, messages=messages)
        return len(messages) if queued else 0

    def send_due(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Send every message that is due, until it is stopped; return how many were taken."""
        sent = 0
        with self.database.read() as session:
            waits = webhooks.any_due(session)
        while waits and not stopped():
            with self.database.write() as session:
                claim = webhooks.claim(session, self.name, lease_seconds=LEASE_SECONDS)
            if claim is None:
                break
            sent += self._send(claim)
        return sent

    def _send(self, claim: WebhookClaim) -> bool:
        delivered = False
        try:
            if (to := self._receiver(claim)) is not None:
                self.sender.send(*to, message_id=claim.message_id, body=orjson.dumps(claim.payload))
                delivered = True
        except DeliveryFailed as failed:
            self._failed(claim, str(failed))
            return False
        try:
            with self.database.write() as session:
                webhooks.finish(session, claim, delivered=delivered)
        except LeaseLost:
            log.warning("webhook.lease_lost", extra={"data": {"message": claim.id}})
        return delivered

    def _receiver(self, claim: WebhookClaim) -> tuple[str, str] | None:
        """Return address and secret; None where nobody wants the message any more."""
        with self.database.read() as session:
            stored = webhooks.webhook(session, claim.account)
        if stored is None or stored.id != claim.webhook:
            return None
        address, secret = self.subscriptions.address(stored), self.subscriptions.secret(stored)
        return None if address is None or secret is None else (address, secret)

    def _failed(self, claim: WebhookClaim, why: str) -> None:
        log.warning("webhook.not_sent", extra={"data": {"message": claim.id, "reason": why}})
        with suppress(LeaseLost), self.database.write() as session:
            if webhooks.fail(session, claim, why=why, gone=why == _GONE):
                log.warning("webhook.switched_off", extra={"data": {"message": claim.id}})

    def release_expired(self) -> int:
        """Give messages back whose sender is gone."""
        with self.database.write() as session:
            return webhooks.release_expired(session)

    async def run(self, stop: asyncio.Event) -> None:
        """Collect and send until told to stop."""
        await run_delivery(self, "webhook.turn_failed", stop=stop)


def payload(item: NewsItem, site: str, *, of: Translations) -> Mapping[str, Any]:
    """Return the JSON of a message, in the form that Standard Webhooks recommends: type, timestamp, data."""
    about = item.activity
    data: dict[str, Any] = {
        "benchmark": item.benchmark,
        "entry": about.entry,
        "model": about.model,
        "version": about.version,
        "event": about.kind,
        "sentence": of.text(item.sentence),
        "url": f"{site}/account/submissions/{about.entry}",
    }
    if about.scores is not None:
        data["score"] = _sides([score or None for score in about.scores])
        data["rank"] = _sides(item.ranks or (None, None))
    return {"type": f"entry.{item.group}", "timestamp": about.at, "data": data}


def _sides(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(("before", "after"), values, strict=True))
