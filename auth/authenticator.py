"""Authentication of a request by session cookie or bearer token."""

from __future__ import annotations

import logging
from typing import Any

from auth import queries
from auth.crypto import digest
from auth.model import (
    ANONYMOUS,
    LOCAL,
    OPEN,
    Forbidden,
    Identity,
    Organisation,
    Scope,
    Unauthenticated,
    restrict_to_scopes,
)
from auth.settings import IdentitySettings, Mode
from storage.database import Database
from storage.models.core import Account
from vlrb.common.messages import _

PREFIX = "vlrb_"
_OTHERS = "hf_"  # Hugging Face's own tokens come along to Spaces; they are not ours
_LONGEST = 200

log = logging.getLogger(__name__)


class Authenticator:
    """Identifies requests. All methods block on the database; call them in a thread."""

    def __init__(self, settings: IdentitySettings, database: Database) -> None:
        self._settings, self._database = settings, database

    def anonymous(self) -> Identity:
        """Return the identity of a request without a credential."""
        return {Mode.LOCAL: LOCAL, Mode.OPEN: OPEN, Mode.OPENID: ANONYMOUS}[self._settings.mode]

    def from_session(self, cookie: str) -> Identity:
        """Return the identity of a session; nobody's if it is forged, ended or expired, or the account is banned."""
        if not cookie or len(cookie) > _LONGEST:
            return ANONYMOUS
        id_sha256 = digest(cookie)
        with self._database.read() as session:
            live = queries.live_session(session, id_sha256, idle_seconds=self._settings.idle_seconds)
        if live is None or live[0].banned_at is not None:
            return ANONYMOUS
        account, idle = live
        if idle > self._settings.touch_seconds:
            self._touch(lambda session: queries.touch_session(session, id_sha256))
        return self._identity(account, via="session", credential=id_sha256)

    def from_token(self, token: str) -> Identity | None:
        """Return the identity of an API token; None if it is a token of somebody else's system.

        Raises:
            Unauthenticated: the token is unknown, revoked or expired.
            Forbidden: its account is banned.
        """
        if token.startswith(_OTHERS):
            return None
        presented = digest(token)
        with self._database.read() as session:
            found = queries.token(session, presented)
        if found is None or not token.startswith(PREFIX):
            raise Unauthenticated(_("This token is not known here."))
        account, result, unused = found
        if result.revoked_at is not None:
            raise Unauthenticated(_("This token was revoked. Make a new one."))
        if result.expired:
            raise Unauthenticated(_("This token has expired. Make a new one."))
        if account.banned_at is not None:
            raise Forbidden(_("This account is banned."))
        if unused > self._settings.touch_seconds:
            self._touch(lambda session: queries.touch_token(session, result.id))
        scopes = frozenset(Scope(scope) for scope in result.scopes.split())
        return self._identity(account, via="token", credential=result.id, scopes=scopes)

    def _identity(
        self, account: Account, *, via: Any, credential: str, scopes: frozenset[Scope] | None = None
    ) -> Identity:
        bound: frozenset[str] = frozenset()
        if self._settings.configured_names:
            with self._database.read() as session:
                bound = queries.bound_names(session, account.id)
        roles = self._settings.roles_of(account.subject, bound)
        return Identity(
            account=account.id,
            name=account.name,
            organisations=tuple(Organisation(**stored) for stored in account.organisations),
            roles=roles if scopes is None else restrict_to_scopes(roles, scopes),
            auth_method=via,
            scopes=scopes or frozenset(),
            credential=credential,
        )

    def _touch(self, write: Any) -> None:
        """Record a use; a failure must not stop it, because public pages and reads work without database writes."""
        try:
            with self._database.write() as session:
                write(session)
        except queries.SQLAlchemyError as error:
            log.warning("use.not_recorded", extra={"data": {"reason": type(error).__name__}})
