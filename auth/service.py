"""Authentication services on one database, created once at start-up. Opens no connection by itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from auth import queries
from auth.authenticator import Authenticator
from auth.crypto import KeyRing, random_id
from auth.limits.login_throttle import LoginThrottle
from auth.model import AuthError, Identity, Role, TooManyFailures, require_person
from auth.openid import OpenIdClient
from auth.settings import IdentitySettings
from auth.sign_in import SignIn
from auth.tokens import Tokens
from storage.database import Database
from storage.integrity import audit
from storage.models.core import UserSession

REFUSED = "identity.refused"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AuthService:
    """The use cases, sharing one seal and one client."""

    settings: IdentitySettings
    database: Database
    seal: KeyRing = field(repr=False)
    resolver: Authenticator = field(repr=False)
    sign_in: SignIn = field(repr=False)
    tokens: Tokens = field(repr=False)

    @classmethod
    def create(cls, database: Database, settings: IdentitySettings) -> AuthService:
        """Return all of them on one database."""
        seal, client = KeyRing(settings.session_secrets or (random_id(),)), OpenIdClient(settings)
        resolver = Authenticator(settings, database, seal=seal)
        sign_in = SignIn(settings, database, seal=seal, client=client)
        return cls(settings, database, seal=seal, resolver=resolver, sign_in=sign_in, tokens=Tokens(database))

    def sessions_of(self, identity: Identity) -> Sequence[UserSession]:
        """Return the sessions of the signed-in user, newest first."""
        person = require_person(identity)
        with self.database.read() as session:
            return queries.live_sessions(session, person.account, idle_seconds=self.settings.idle_seconds)

    def record_denial(self, refused: AuthError, where: str, address: str) -> None:
        """Put a refused attempt at what maintainers may do on record; of many from one place the first twenty.

        `where`: what was tried, for instance "POST /api/v1/maintenance/rescore" or the name of a Gradio function.
        """
        if refused.needed not in (Role.MAINTAINER, Role.OWNER):
            return
        user = refused.identity
        try:
            with suppress(TooManyFailures):
                LoginThrottle(self.database, self.seal, kind="refused", most=20).add(user.account or address)
                facts = {
                    "account": user.account,
                    "via": user.auth_method,
                    "needed": refused.needed.value,
                    "where": where[:200],
                }
                with self.database.write() as session:
                    audit.append(session, REFUSED, data=facts)
        except queries.SQLAlchemyError as error:  # the request is refused even if it cannot be recorded
            log.warning("refusal.not_recorded", extra={"data": {"reason": type(error).__name__}})
