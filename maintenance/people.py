"""Decisions about accounts."""

from __future__ import annotations

from identity import LOCAL, Role, bans, require
from identity.settings import IdentitySettings
from maintenance.accounts import directory, queries
from maintenance.values import Done, Identity, NotPossible, require_maintainer, words
from storage.database import Database

_YOURSELF = "Nobody can ban themselves, or let themselves in again."
_LOCAL = (
    f"{LOCAL.account} is whoever reaches this machine without signing in, you too: it cannot be banned. "
    "Stop the service, or set OIDC_CLIENT_ID so that people sign in."
)


def ban(database: Database, who: Identity, identity: IdentitySettings | None, account: str, reason: str) -> Done:
    """Shut an account out, named by id or user name: its sessions end, its tokens stop working, its entries stay.

    For maintainers; where it is a maintainer's or an owner's, for owners. `identity`: who has which role; None: nobody
    is told apart. Raises Refused, NotFound, NotPossible.
    """
    return _set(database, who, identity, account, reason, banned=True)


def unban(database: Database, who: Identity, identity: IdentitySettings | None, account: str, reason: str) -> Done:
    """Let it in again. For the same people."""
    return _set(database, who, identity, account, reason, banned=False)


def _set(
    database: Database, who: Identity, identity: IdentitySettings | None, account: str, reason: str, *, banned: bool
) -> Done:
    require_maintainer(who)
    why = words(reason)
    with database.read() as session:
        found = directory.find(session, account, local=True)
        if found.id == who.account:
            raise NotPossible("yourself", _YOURSELF if found.id != LOCAL.account else _LOCAL)
        if found.id == LOCAL.account:
            raise NotPossible("local", _LOCAL)
        role = directory.role_of(queries.standing(session, found.id), identity)
    if role in (Role.MAINTAINER, Role.OWNER):
        require(who, Role.OWNER)
    seq = bans.ban(database, found.id, who.account, why, banned=banned)
    done = f"{found.words} is {'shut out' if banned else 'let in again'}."
    return Done(seq is not None, "It is so already." if seq is None else done, seq)
