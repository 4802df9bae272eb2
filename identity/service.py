"""Everything of identity on one database, made once when the service starts. Connects to nothing by itself."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field

from identity import queries
from identity.failures import Failures
from identity.openid import OpenIdClient
from identity.resolve import Resolver
from identity.seal import Seal, random_id
from identity.settings import IdentitySettings
from identity.sign_in import SignIn
from identity.tokens import Tokens
from identity.values import Identity, Refused, Role, TooManyFailures, require_person
from storage import audit
from storage.database import Database

REFUSED = "identity.refused"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Identities:
    """The use cases, sharing one seal and one client."""

    settings: IdentitySettings
    database: Database
    seal: Seal = field(repr=False)
    resolver: Resolver = field(repr=False)
    sign_in: SignIn = field(repr=False)
    tokens: Tokens = field(repr=False)

    @classmethod
    def on(cls, database: Database, settings: IdentitySettings) -> Identities:
        """All of them on one database."""
        # Without sign-in nothing is signed for longer than this process lives; sign-in brings its own secret.
        seal, client = Seal(settings.session_secrets or (random_id(),)), OpenIdClient(settings)
        shared = (settings, database, seal, client)
        return cls(settings, database, seal, Resolver(*shared), SignIn(*shared), Tokens(database))

    def sessions_of(self, identity: Identity) -> list[queries.SessionRow]:
        """The sessions of the person who is signed in, the newest first."""
        person = require_person(identity)
        with self.database.read() as session:
            return queries.live_sessions(session, person.account, self.settings.idle_seconds)

    def note_refusal(self, refused: Refused, where: str, address: str) -> None:
        """Put a refused attempt at what maintainers may do on record; of many from one place the first twenty.

        `where`: what was tried, for instance "POST /api/v1/maintenance/rescore" or the name of a Gradio function.
        """
        if refused.needed not in (Role.MAINTAINER, Role.OWNER):
            return
        who = refused.identity
        try:
            with suppress(TooManyFailures):
                Failures(self.database, self.seal, "refused", most=20).add(who.account or address)
                facts = {"account": who.account, "via": who.via, "needed": refused.needed.value, "where": where[:200]}
                with self.database.write() as session:
                    audit.append(session, REFUSED, facts)
        except queries.SQLAlchemyError as error:  # a refusal stands, on record or not
            log.warning("refusal.not_recorded", extra={"data": {"reason": type(error).__name__}})
