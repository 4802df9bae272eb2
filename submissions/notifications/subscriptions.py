"""Use cases of e-mail notifications: state an address, confirm it, change what is sent, stop."""

from __future__ import annotations

from dataclasses import dataclass, field

from auth import Identity
from auth.crypto import KeyRing, random_id
from auth.model import require_person
from operation.mail_server import is_address
from storage import notifications
from storage.database import Database
from storage.models.queue import EmailSubscription
from vlrb.common.messages import _

CONFIRM_SECONDS = 2 * 86_400
REQUESTS_A_DAY = 3  # of an account, and for an address: nobody can be flooded with requests
_SEAL, _CONFIRM, _UNSUBSCRIBE, _ADDRESS = "email", "confirm-email", "unsubscribe-email", "email-address"
_NOT_VALID = _("This link is not valid any more. State the address again in your account.")


class EmailRejected(ValueError):
    """An address or a link cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class OwnAddress:
    """The address of an account, as its owner sees it."""

    address: str
    confirmed: bool
    failed: bool  # whether the last e-mail could not be delivered


@dataclass(frozen=True, slots=True)
class EmailSubscriptions:
    """Addresses of accounts. `site`: in front of links."""

    database: Database
    seal: KeyRing = field(repr=False)
    site: str

    def own(self, user: Identity) -> OwnAddress | None:
        """Return the user's address; None where there is none, or where it can be read no more."""
        person = require_person(user)
        with self.database.read() as session:
            stored = notifications.subscription(session, person.account)
            failed = stored is not None and notifications.last_failed(session, stored.id)
        address = None if stored is None else self.address(stored)
        if stored is None or address is None:
            return None
        return OwnAddress(address, confirmed=stored.confirmed_at is not None, failed=failed)

    def state(self, user: Identity, address: str, *, language: str) -> None:
        """Keep an address and have it confirmed; an address that is confirmed already keeps that.

        Raises EmailRejected for an address that is none, and after too many requests.
        """
        person, wanted = require_person(user), address.strip()
        if not is_address(wanted):
            raise EmailRejected(_("This is not an e-mail address. Write one such as name@example.org."))
        key, new_id = self.address_key(wanted), random_id()
        sealed = self.seal.encrypt(_SEAL, wanted, owner=person.account)
        new = {"id": new_id, "address": sealed, "language": language}
        with self.database.write() as session:
            before = notifications.subscription(session, person.account)
            if before is not None and before.confirmed_at is not None and self.address(before) == wanted:
                return
            if max(notifications.requests(session, person.account, address_key=key)) >= REQUESTS_A_DAY:
                raise EmailRejected(_("You asked for too many confirmations. Try again tomorrow."))
            notifications.subscribe(session, person.account, address_key=key, **new)

    def confirm(self, user: Identity, token: str) -> None:
        """Begin to send to an address, if its reader is the account that stated it.

        Raises EmailRejected where the link is not for this account, or is too old.
        """
        person = require_person(user)
        with self.database.write() as session:
            stored = notifications.subscription(session, person.account)
            if stored is None or self.confirmed_id(token) != stored.id:
                raise EmailRejected(_NOT_VALID)
            notifications.confirm(session, stored.id)

    def stop(self, user: Identity) -> None:
        """Delete the user's address."""
        with self.database.write() as session:
            notifications.unsubscribe(session, require_person(user).account)

    def unsubscribe(self, subscription_id: str, key: str) -> None:
        """Delete an address, for who has a link of one of its e-mails. Raises EmailRejected for a forged one."""
        if not self.seal.verify_keyed(_UNSUBSCRIBE, subscription_id, claimed=key):
            raise EmailRejected(_NOT_VALID)
        with self.database.write() as session:
            stored = notifications.subscription_by_id(session, subscription_id)
            if stored is not None:
                notifications.unsubscribe(session, stored.account)

    def address(self, stored: EmailSubscription) -> str | None:
        """Return an address in plain text; None where SESSION_SECRET is another now."""
        return self.seal.decrypt(_SEAL, stored.address, owner=stored.account)

    def address_key(self, address: str) -> str:
        """Return a digest that counts requests for an address, and cannot be looked up."""
        return self.seal.keyed(_ADDRESS, address.casefold())

    def confirmed_id(self, token: str) -> str:
        """Return which subscription a link confirms; "" where it was not made here, or too long ago."""
        return str((self.seal.unsign(_CONFIRM, token, seconds=CONFIRM_SECONDS) or {}).get("id", ""))

    def confirm_link(self, subscription_id: str) -> str:
        """Return the link that asks for confirmation."""
        token = self.seal.sign(_CONFIRM, {"id": subscription_id})
        return f"{self.site}/account/email/confirm?token={token}"

    def unsubscribe_link(self, subscription_id: str) -> str:
        """Return the link that stops e-mails without sign-in."""
        key = self.seal.keyed(_UNSUBSCRIBE, subscription_id)
        return f"{self.site}/account/email/unsubscribe?id={subscription_id}&key={key}"
