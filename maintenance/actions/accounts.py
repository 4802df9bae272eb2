"""Use cases about accounts: list them, find the one that is named, ban and unban."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from auth import LOCAL, Role, queries, require
from auth.settings import IdentitySettings, Mode
from maintenance.action_context import ActionContext
from maintenance.database import account_queries
from maintenance.database.account_queries import AccountRow
from maintenance.registry import AccountName, AccountSearch, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer
from maintenance.view import Row, Table, View
from storage.clock import minute
from storage.database import Session
from storage.integrity import audit

MOST = 200
BANNED, UNBANNED = "identity.banned", "identity.unbanned"
_LOCAL = AccountRow(LOCAL.account, LOCAL.name, "", first_seen_at=0.0, last_seen_at=0.0, banned_at=None)
_YOURSELF = "Nobody can ban themselves, or lift their own ban."
_EVERYBODY = (
    f"{LOCAL.account} is everyone who uses this machine without signing in, including you: it cannot "
    "be banned. Stop the service, or set OIDC_CLIENT_ID so that people sign in."
)


class Directory(NamedTuple):
    """The accounts that were asked for, the last seen first, MOST of them; `number`: how many there are."""

    accounts: tuple[AccountRow, ...]
    number: int
    search: str = ""


def find(session: Session, named: str) -> AccountRow:
    """Return the account with this id, or with this user name if nobody else has it. An id is never taken for a name.

    The person at a machine without sign-in has one, too. Raises NotFound, Conflict.
    """
    named = named.strip()
    if named == LOCAL.account:
        return _LOCAL
    same = account_queries.called(session, named)
    if len(same) > 1:
        ids = ", ".join(account.id for account in same)
        raise Conflict("ambiguous-account", f"{len(same)} accounts are named {named[:80]}: {ids}. Give the id.")
    if not same:
        raise NotFound(f"There is no account with the id or the user name {named[:80]!r}.")
    return same[0]


def names(ctx: ActionContext, accounts: Iterable[str]) -> dict[str, str]:
    """Return id -> user name, of those that have one here. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return account_queries.names(session, sorted(accounts))


def _shown(directory: Directory) -> View:
    head = ("Name", "Account", "Role", "Submissions", "First seen", "Last seen", "Banned")
    nobody = "No account matches this search." if directory.search else "Nobody has signed in yet."
    table = Table("Accounts", head, [_row(account) for account in directory.accounts], nobody, parameter="account")
    more = directory.number - len(directory.accounts)
    return View([f"{more:,} more: search for part of a name or id."] if more > 0 else [], tables=[table])


def _row(account: AccountRow) -> Row:
    name, role, seen = f"{account.name} ({account.id})", account.role or "role not known here", account.last_seen_at
    cells = (account.name, account.id, role, account.submissions, minute(account.first_seen_at), minute(seen))
    if account.banned_at is None:
        return Row((*cells, "no"), key=account.id, name=name, without=("accounts.unban",))
    return Row((*cells, f"since {minute(account.banned_at)}"), key=account.id, name=name, without=("accounts.ban",))


@action("accounts.list", "GET /api/v1/maintenance/accounts", view=_shown)
def listing(ctx: ActionContext, search: AccountSearch = "") -> Directory:
    """Show accounts with a text in name or id, the last seen first. For maintainers."""
    with ctx.database.read() as session:
        rows, number = account_queries.listed(session, ctx.benchmark, search=search.strip(), limit=MOST)
    shown = tuple(row._replace(role=_role_of(row, ctx.identity)) for row in rows)
    return Directory(shown, number, search=search.strip())


@action("accounts.ban", "PUT /api/v1/maintenance/bans/{account}", command="ban", button="Ban", danger=True)
def ban(ctx: ActionContext, account: AccountName, reason: Reason) -> ActionResult:
    """Ban an account: its sessions end, its tokens stop working, its entries stay. Only an owner can ban a maintainer.

    For maintainers; where it is a maintainer's or an owner's, for owners. Raises AuthError, NotFound, Conflict.
    """
    return _set(ctx, account, reason=reason, banned=True)


@action("accounts.unban", "POST /api/v1/maintenance/bans/{account}/lift", command="unban", button="Unban")
def unban(ctx: ActionContext, account: AccountName, reason: Reason) -> ActionResult:
    """Lift a ban. For the same people."""
    return _set(ctx, account, reason=reason, banned=False)


def _set(ctx: ActionContext, account: str, *, reason: str, banned: bool) -> ActionResult:
    why = clean_reason(reason)
    with ctx.database.read() as session:
        result = find(session, account)
    if result.id == ctx.user.account:
        raise Conflict("yourself", _YOURSELF if result.id != LOCAL.account else _EVERYBODY)
    if result.id == LOCAL.account:
        raise Conflict("local", _EVERYBODY)
    if _role_of(result, ctx.identity) in (Role.MAINTAINER, Role.OWNER):
        require(ctx.user, Role.OWNER)
    with ctx.database.write() as session:
        changed = queries.ban(session, result.id, banned=banned)
        if banned:
            queries.end_sessions(session, result.id)
        if not changed:
            return ActionResult(False, "No change: it is so already.")
        facts = {"account": result.id, "by": ctx.user.account, "reason": why}
        seq = audit.append(session, BANNED if banned else UNBANNED, data=facts)
    return ActionResult(True, f"{result.words} is {'' if banned else 'no longer '}banned.", seq=seq)


def _role_of(row: AccountRow, identity: IdentitySettings | None) -> Role | None:
    """Return the highest role; None: not known here."""
    if identity is None or identity.mode is not Mode.OPENID:
        return None
    held = identity.roles_of(row.subject, frozenset(row.names))
    return max(held, key=tuple(Role).index)
