"""Use cases: create, list and revoke API tokens."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from auth import queries
from auth.authenticator import PREFIX
from auth.crypto import digest, random_id
from auth.model import Identity, Role, Scope, require, require_person
from storage.database import Database
from storage.integrity import audit
from storage.models.core import ApiToken
from vlrb.common.messages import _

DAYS = (7, 30, 90, 365)  # how long a token may hold
MOST = 20  # in use at once
TOKEN_MADE, TOKEN_REVOKED = "identity.token-made", "identity.token-revoked"
_DAY = 86_400.0


class TokenRejected(ValueError):
    """The token cannot be made as asked; the message says what to change."""


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token. `token` is shown once and kept nowhere."""

    id: str
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of the signed-in user. All methods block; call them in a thread."""

    database: Database

    def make(self, identity: Identity, name: str, *, scopes: Collection[str], days: int) -> CreatedToken:
        """Make a token.

        Raises:
            Unauthenticated, Forbidden: no browser is signed in, or the account cannot give this scope.
            TokenRejected: name, scopes or duration are not usable.
        """
        person = require_person(identity)
        name, chosen = _usable(name, scopes, days=days)
        if Scope.MAINTAIN in chosen:
            require(person, Role.MAINTAINER)
        token, token_id = PREFIX + random_id(), _new_id()
        try:
            with self.database.write() as session:
                queries.lock_account(session, person.account)
                if len(queries.tokens_in_use(session, person.account)) >= MOST:
                    raise TokenRejected(_("You have {most} tokens. Revoke one that you no longer need.", most=MOST))
                written = " ".join(sorted(chosen))
                new_token = ApiToken(
                    id=token_id, account_id=person.account, name=name, token_sha256=digest(token), scopes=written
                )
                queries.add_token(session, new_token, seconds=days * _DAY)
                facts = {"account": person.account, "token": token_id, "scopes": sorted(chosen), "days": days}
                audit.append(session, TOKEN_MADE, data=facts)
        except queries.IntegrityError:
            raise TokenRejected(
                _("You have a token named {name}. Revoke it, or choose another name.", name=name)
            ) from None
        return CreatedToken(token_id, name, token=token)

    def list_for(self, identity: Identity) -> Sequence[ApiToken]:
        """Return the tokens that were not revoked, the newest first."""
        person = require_person(identity)
        with self.database.read() as session:
            return queries.tokens_in_use(session, person.account)

    def revoke(self, identity: Identity, token_id: str) -> bool:
        """Revoke one's own token; whether there was one. Twice is as good as once."""
        person = require_person(identity)
        with self.database.write() as session:
            revoked = queries.revoke_token(session, person.account, token_id=token_id)
            if revoked:
                audit.append(session, TOKEN_REVOKED, data={"account": person.account, "token": token_id})
        return revoked


def _usable(name: str, scopes: Collection[str], *, days: int) -> tuple[str, frozenset[Scope]]:
    name = " ".join(name.split())
    if not name or len(name) > 100 or not name.isprintable():
        raise TokenRejected(_("Give the token a name of at most 100 characters, for instance where you use it."))
    try:
        chosen = frozenset(Scope(scope) for scope in scopes)
    except ValueError:
        chosen = frozenset()
    if not chosen:
        raise TokenRejected(_("Choose what the token may do."))
    if days not in DAYS:
        raise TokenRejected(
            _("A token is valid for {days} or {days2} days.", days=", ".join(map(str, DAYS[:-1])), days2=DAYS[-1])
        )
    return name, chosen


def _new_id() -> str:
    return "t" + base64.b32encode(secrets.token_bytes(7)).decode().lower()[:11]
