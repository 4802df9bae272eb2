"""SQL of accounts for maintainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from storage.models.core import Account, RoleBinding, Submission

_COLUMNS = (Account.id, Account.name, Account.subject, Account.first_seen_at, Account.last_seen_at, Account.banned_at)


class AccountRow(NamedTuple):
    """An account. Instants are seconds since 1970, UTC. `names`: the configured names that mean it, for its roles;
    `role`: the highest, None where this process does not know the roles."""

    id: str
    name: str
    subject: str
    first_seen_at: float
    last_seen_at: float
    banned_at: float | None
    submissions: int = 0
    names: tuple[str, ...] = ()
    role: str | None = None

    @property
    def words(self) -> str:
        """Name and id, in a sentence."""
        return self.name if self.name == self.id else f"{self.name} ({self.id})"


def called(session: Session, named: str) -> list[AccountRow]:
    """Return the account with this id, else all whose user name at the last sign-in was this one, in small or capital
    letters."""
    same = or_(Account.name == named, func.lower(Account.name) == named.lower())
    return _rows(session, "", matching=Account.id == named) or _rows(session, "", matching=same)


def names(session: Session, accounts: Sequence[str]) -> dict[str, str]:
    """Return id -> user name at the last sign-in."""
    return {
        row.id: row.name for row in session.execute(select(Account.id, Account.name).where(Account.id.in_(accounts)))
    }


def listed(session: Session, benchmark: str, *, search: str, limit: int) -> tuple[list[AccountRow], int]:
    """Return the accounts with this text in their name or id, the last seen first, `limit` at most; and how many
    there are."""
    matching = or_(Account.name.icontains(search, autoescape=True), Account.id.icontains(search, autoescape=True))
    number = session.execute(select(func.count()).select_from(Account).where(matching)).scalar_one()
    return _rows(session, benchmark, matching=matching, limit=limit), number


def _rows(
    session: Session, benchmark: str, *, matching: ColumnElement[bool], limit: int | None = None
) -> list[AccountRow]:
    """Return the accounts that match, with how much they have submitted to a benchmark."""
    counted = select(func.count()).where(Submission.owner == Account.id, Submission.benchmark == benchmark)
    wanted = select(*_COLUMNS, counted.correlate(Account).scalar_subquery()).where(matching)
    rows = session.execute(wanted.order_by(Account.last_seen_at.desc(), Account.id).limit(limit)).all()
    names: dict[str, set[str]] = {}
    bound = select(RoleBinding.account_id, RoleBinding.name).where(RoleBinding.account_id.in_([row.id for row in rows]))
    for account, name in session.execute(bound):
        names.setdefault(account, set()).add(name)
    return [AccountRow(*row)._replace(names=tuple(sorted(names.get(row.id, ())))) for row in rows]
