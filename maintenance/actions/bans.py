"""Use cases about accounts: ban and unban."""

from __future__ import annotations

from auth import LOCAL, Role, bans, require
from maintenance.action_context import ActionContext
from maintenance.actions import account_search
from maintenance.database import account_queries
from maintenance.registry import AccountName, Reason, action
from maintenance.types import ActionResult, Conflict, clean_reason

_YOURSELF = "Nobody can ban themselves, or lift their own ban."
_LOCAL = (
    f"{LOCAL.account} is everyone who uses this machine without signing in, including you: it cannot "
    "be banned. Stop the service, or set OIDC_CLIENT_ID so that people sign in."
)


@action(
    "accounts.ban",
    "PUT /api/v1/maintenance/bans/{account}",
    help="ban an account",
    command="ban",
    button="Ban",
    danger=True,
)
def ban(ctx: ActionContext, account: AccountName, reason: Reason) -> ActionResult:
    """Ban an account: its sessions end, its tokens stop working, its entries stay. Only an owner can ban a maintainer.

    For maintainers; where it is a maintainer's or an owner's, for owners. Raises AuthError, NotFound, Conflict.
    """
    return _set(ctx, account, reason=reason, banned=True)


@action(
    "accounts.unban", "POST /api/v1/maintenance/bans/{account}/lift", help="lift a ban", command="unban", button="Unban"
)
def unban(ctx: ActionContext, account: AccountName, reason: Reason) -> ActionResult:
    """Lift a ban. For the same people."""
    return _set(ctx, account, reason=reason, banned=False)


def _set(ctx: ActionContext, account: str, *, reason: str, banned: bool) -> ActionResult:
    why = clean_reason(reason)
    with ctx.database.read() as session:
        result = account_search.find(session, account, local=True)
        if result.id == ctx.user.account:
            raise Conflict("yourself", _YOURSELF if result.id != LOCAL.account else _LOCAL)
        if result.id == LOCAL.account:
            raise Conflict("local", _LOCAL)
        role = account_search.role_of(account_queries.standing(session, result.id), ctx.identity)
    if role in (Role.MAINTAINER, Role.OWNER):
        require(ctx.user, Role.OWNER)
    seq = bans.ban(ctx.database, result.id, by=ctx.user.account, reason=why, banned=banned)
    words = result.words
    done = f"{words} is banned." if banned else f"{words} is no longer banned."
    return ActionResult(seq is not None, "No change: it is so already." if seq is None else done, seq=seq)
