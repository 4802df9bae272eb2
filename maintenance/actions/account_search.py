"""Account search: list, filter, and find the account that a maintainer names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from auth import LOCAL, Role
from auth.roles import roles_of
from auth.settings import IdentitySettings, Mode
from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.database import account_queries
from maintenance.database.account_queries import AccountMatch, AccountRoles, AccountRow
from maintenance.registry import AccountSearch, action
from maintenance.types import Conflict, NotFound, require_maintainer
from storage.database import Session

MOST = 200
_LOCAL = AccountMatch(LOCAL.account, LOCAL.name)


class ListedAccount(NamedTuple):
    """An account. Instants are seconds since 1970, UTC. `role`: None where this process does not know the roles."""

    id: str
    name: str
    first_seen_at: float
    last_seen_at: float
    role: str | None
    banned_at: float | None
    submissions: int


class Directory(NamedTuple):
    """The accounts that were asked for, the last seen first, MOST of them; `number`: how many there are."""

    accounts: tuple[ListedAccount, ...]
    number: int
    search: str = ""

    @property
    def nobody(self) -> str:
        """Message for an empty list."""
        return "No account matches this search." if self.search else "Nobody has signed in yet."


def find(session: Session, named: str, *, local: bool = False) -> AccountMatch:
    """Return the account with this id, or with this user name if nobody else has it. An id is never taken for a name.

    `local`: the person at a machine without sign-in counts, too. Raises NotFound, Conflict.
    """
    named = named.strip()
    if local and named == LOCAL.account:
        return _LOCAL
    if (account_match := account_queries.by_id(session, named)) is not None:
        return account_match
    same = account_queries.by_name(session, named) if named else []
    if len(same) > 1:
        ids = ", ".join(account.id for account in same)
        raise Conflict(
            "ambiguous-account",
            f"{len(same)} accounts are named {named[:80]}: {ids}. Give the id.",
        )
    if not same:
        raise NotFound(f"There is no account with the id or the user name {named[:80]!r}.")
    return same[0]


def names(ctx: ActionContext, accounts: Iterable[str | None]) -> dict[str, str]:
    """Return id -> user name, of those that have one here. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return account_queries.names(session, sorted({account for account in accounts if account}))


@action(
    "accounts.list",
    "GET /api/v1/maintenance/accounts",
    view=views.accounts,
    help="id, name, role and submissions, the last seen first",
)
def listing(ctx: ActionContext, search: AccountSearch = "") -> Directory:
    """Return accounts with `search` in name or id. For maintainers. `identity`: who has which role; None: not known
    here."""
    with ctx.database.read() as session:
        result, number = account_queries.listed(session, ctx.benchmark, search=search.strip(), limit=MOST)
    return Directory(tuple(_listed(account, ctx.identity) for account in result), number, search=search.strip())


def _listed(kept: AccountRow, identity: IdentitySettings | None) -> ListedAccount:
    role = role_of(kept.standing, identity)
    return ListedAccount(
        kept.id,
        kept.name,
        first_seen_at=kept.first_seen_at,
        last_seen_at=kept.last_seen_at,
        role=role.value if role else None,
        banned_at=kept.banned_at,
        submissions=kept.submissions,
    )


def role_of(standing: AccountRoles, identity: IdentitySettings | None) -> Role | None:
    """Return the highest role; None: not known here."""
    if identity is None or identity.mode is not Mode.OPENID:
        return None
    held = roles_of(standing.subject, standing.names, settings=identity)
    return max(held, key=tuple(Role).index)
