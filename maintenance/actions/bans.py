"""Use cases about accounts: ban and unban."""

from __future__ import annotations

from auth import LOCAL, Role, bans, require
from auth.settings import IdentitySettings
from maintenance import account_queries
from maintenance.actions import account_search
from maintenance.types import ActionResult, Conflict, Identity, clean_reason, require_maintainer
from storage.database import Database

_YOURSELF = "Nobody can ban themselves, or let themselves in again."
_LOCAL = (
    f"{LOCAL.account} is whoever reaches this machine without signing in, you too: it cannot be banned. "
    "Stop the service, or set OIDC_CLIENT_ID so that people sign in."
)


def ban(
    database: Database, user: Identity, identity: IdentitySettings | None, account: str, reason: str
) -> ActionResult:
    """Shut an account out, named by id or user name: its sessions end, its tokens stop working, its entries stay.

    For maintainers; where it is a maintainer's or an owner's, for owners. `identity`: who has which role; None: nobody
    is told apart. Raises AuthError, NotFound, Conflict.
    """
    return _set(database, user, identity, account, reason, banned=True)


def unban(
    database: Database, user: Identity, identity: IdentitySettings | None, account: str, reason: str
) -> ActionResult:
    """Let it in again. For the same people."""
    return _set(database, user, identity, account, reason, banned=False)


def _set(
    database: Database, user: Identity, identity: IdentitySettings | None, account: str, reason: str, *, banned: bool
) -> ActionResult:
    require_maintainer(user)
    why = clean_reason(reason)
    with database.read() as session:
        found = account_search.find(session, account, local=True)
        if found.id == user.account:
            raise Conflict("yourself", _YOURSELF if found.id != LOCAL.account else _LOCAL)
        if found.id == LOCAL.account:
            raise Conflict("local", _LOCAL)
        role = account_search.role_of(account_queries.standing(session, found.id), identity)
    if role in (Role.MAINTAINER, Role.OWNER):
        require(user, Role.OWNER)
    seq = bans.ban(database, found.id, user.account, why, banned=banned)
    done = f"{found.words} is {'shut out' if banned else 'let in again'}."
    return ActionResult(seq is not None, "It is so already." if seq is None else done, seq)
