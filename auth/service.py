"""Authentication services on one database, created once at start-up. Opens no connection by itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from auth.authenticator import Authenticator
from auth.crypto import KeyRing, random_id
from auth.openid import OpenIdClient
from auth.settings import IdentitySettings
from auth.sign_in import SignIn
from auth.tokens import Tokens
from storage.database import Database


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
        resolver = Authenticator(settings, database)
        sign_in = SignIn(settings, database, seal=seal, client=client)
        return cls(settings, database, seal=seal, resolver=resolver, sign_in=sign_in, tokens=Tokens(database))
