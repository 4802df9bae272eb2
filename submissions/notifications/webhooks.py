"""Use cases of webhooks: state an address, change what is sent, ask for a test, stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from auth import Identity
from auth.crypto import KeyRing, random_id
from auth.model import require_person
from operation.webhook_sender import SECONDS, new_secret, parse_url
from storage import webhooks
from storage.clock import iso
from storage.database import Database
from storage.webhooks import LastMessage, NewMessage, NewWebhook, StoredWebhook
from submissions.notifications.subscriptions import EVENTS
from vlrb.common.messages import Message, _

TESTS_AN_HOUR = 10
TEST = "webhook.test"
_ADDRESS, _SECRET = "webhook", "webhook-secret"
_NOT_USABLE = _(
    "This is not an https address. Write one such as https://example.org/hook, with port 443 or above 1023."
)
_OUTCOMES = {
    "timeout": _("The address did not answer within {seconds} seconds.", seconds=int(SECONDS)),
    "certificate": _("The address has no valid certificate."),
    "unreachable": _("The address could not be reached."),
    "not-public": _("The address leads to a private network, where nothing is sent."),
}


class WebhookRejected(ValueError):
    """An address or a request cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class OwnWebhook:
    """The webhook of an account, as its owner sees it."""

    address: str
    events: Sequence[str]
    stopped: bool  # switched off after many failures
    last: LastMessage | None

    @property
    def problem(self) -> Message | str:
        """Why the last message was not taken; "" where it was."""
        return "" if self.last is None else outcome(self.last.reason)


def outcome(code: str) -> Message | str:
    """Return what a failed delivery's code means."""
    kind, _dash, status = code.partition("-")
    if kind == "status" and status.isdigit():
        return _("The address answered with status {status}.", status=status)
    return _OUTCOMES.get(code, _("The delivery was interrupted.") if code else "")


@dataclass(frozen=True, slots=True)
class WebhookSubscriptions:
    """Webhooks of accounts."""

    database: Database
    seal: KeyRing = field(repr=False)

    def own(self, user: Identity) -> OwnWebhook | None:
        """Return the user's webhook; None where there is none, or where it can be read no more."""
        with self.database.read() as session:
            stored = webhooks.webhook(session, require_person(user).account)
            last = None if stored is None else webhooks.last_message(session, stored.id)
        address = None if stored is None else self.address(stored)
        if stored is None or address is None:
            return None
        return OwnWebhook(address, stored.events, stopped=stored.stopped_at is not None, last=last)

    def state(self, user: Identity, address: str, *, events: Sequence[str], language: str) -> str | None:
        """Keep an address; return the secret of a new one. The same address keeps its secret: None.

        Raises WebhookRejected for an address or events that are none.
        """
        person, wanted, chosen = require_person(user), address.strip(), [name for name in EVENTS if name in events]
        try:
            parse_url(wanted)
        except ValueError:
            raise WebhookRejected(_NOT_USABLE) from None
        if not chosen:
            raise WebhookRejected(_("Choose at least one kind of news, or delete the webhook."))
        secret = new_secret()
        sealed = (
            self.seal.encrypt(_ADDRESS, wanted, owner=person.account),
            self.seal.encrypt(_SECRET, secret, owner=person.account),
        )
        with self.database.write() as session:
            before = webhooks.webhook(session, person.account)
            if before is not None and self.address(before) == wanted:
                webhooks.change(session, person.account, events=chosen, language=language)
                return None
            new = NewWebhook(
                person.account, random_id(), address=sealed[0], secret=sealed[1], language=language, events=chosen
            )
            webhooks.replace(session, new)
        return secret

    def test(self, user: Identity) -> None:
        """Queue a test. Raises WebhookRejected without a webhook, and after too many tests."""
        person = require_person(user)
        with self.database.write() as session:
            stored = webhooks.webhook(session, person.account)
            if stored is None:
                raise WebhookRejected(_("There is no webhook. State an address first."))
            if webhooks.recent_tests(session, person.account) >= TESTS_AN_HOUR:
                raise WebhookRejected(_("You asked for too many tests. Try again in an hour."))
            webhooks.queue_test(session, stored, message=_test_message(webhooks.now(session)))

    def stop(self, user: Identity) -> None:
        """Delete the user's webhook."""
        with self.database.write() as session:
            webhooks.remove(session, require_person(user).account)

    def address(self, stored: StoredWebhook) -> str | None:
        """Return an address in plain text; None where SESSION_SECRET is another now."""
        return self.seal.decrypt(_ADDRESS, stored.address, owner=stored.account)

    def secret(self, stored: StoredWebhook) -> str | None:
        """Return the secret of a webhook; None likewise."""
        return self.seal.decrypt(_SECRET, stored.secret, owner=stored.account)


def message_id() -> str:
    """Return a new id for a message, the same one in each of its attempts."""
    return f"msg_{random_id()}"


def _test_message(now: float) -> NewMessage:
    return NewMessage(message_id(), {"type": TEST, "timestamp": iso(now), "data": {}})
