"""SQL of accounts for maintainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from storage.models.core import Account, RoleBinding, Submission


class AccountMatch(NamedTuple):
    """An account by what people call it."""

    id: str
    name: str

    @property
    def words(self) -> str:
        """Name and id, in a sentence."""
        return self.name if self.name == self.id else f"{self.name} ({self.id})"


class AccountRoles(NamedTuple):
    """Facts that an account's roles depend on. `names`: the configured names that mean it."""

    subject: str
    names: frozenset[str]


class AccountRow(NamedTuple):
    """An account as the tables have it. Instants are seconds since 1970, UTC."""

    id: str
    name: str
    subject: str
    organisations: list[dict[str, Any]]
    first_seen_at: float
    last_seen_at: float
    banned_at: float | None
    submissions: int
    names: frozenset[str]

    @property
    def standing(self) -> AccountRoles:
        """Facts that its roles depend on."""
        return AccountRoles(self.subject, self.names)


def standing(session: Session, account: str) -> AccountRoles:
    """Return the facts for the roles of the account with this id, which must exist."""
    subject = session.execute(select(Account.subject).where(Account.id == account)).scalar_one()
    names = session.scalars(select(RoleBinding.name).where(RoleBinding.account_id == account))
    return AccountRoles(subject, frozenset(names))


def by_id(session: Session, account: str) -> AccountMatch | None:
    """Return the account with this id, or None."""
    row = session.execute(select(Account.id, Account.name).where(Account.id == account)).first()
    return AccountMatch(*row) if row is not None else None


def by_name(session: Session, name: str) -> list[AccountMatch]:
    """Return all accounts whose user name at the last sign-in was this one, in small or capital letters."""
    same = or_(Account.name == name, func.lower(Account.name) == name.lower())
    rows = session.execute(select(Account.id, Account.name).where(same).order_by(Account.first_seen_at))
    return [AccountMatch(*row) for row in rows]


def names(session: Session, accounts: Sequence[str]) -> dict[str, str]:
    """Return id -> user name at the last sign-in."""
    return {
        row.id: row.name for row in session.execute(select(Account.id, Account.name).where(Account.id.in_(accounts)))
    }


def listed(session: Session, benchmark: str, *, search: str, limit: int) -> tuple[list[AccountRow], int]:
    """Return the accounts with this text in their name or id, the last seen first, `limit` at most; and how many
    there are."""
    matching = or_(Account.name.icontains(search, autoescape=True), Account.id.icontains(search, autoescape=True))
    submission_counts = (
        select(func.count())
        .where(Submission.owner == Account.id, Submission.benchmark == benchmark)
        .correlate(Account)
        .scalar_subquery()
    )
    columns = (getattr(Account, name) for name in AccountRow._fields[:-2])
    wanted = select(*columns, submission_counts.label("submissions")).where(matching)
    rows = session.execute(wanted.order_by(Account.last_seen_at.desc(), Account.id).limit(limit)).all()
    names: dict[str, set[str]] = {}
    bound = select(RoleBinding.account_id, RoleBinding.name).where(RoleBinding.account_id.in_([row.id for row in rows]))
    for account, name in session.execute(bound):
        names.setdefault(account, set()).add(name)
    number = session.execute(select(func.count()).select_from(Account).where(matching)).scalar_one()
    return [AccountRow(**row._mapping, names=frozenset(names.get(row.id, ()))) for row in rows], number
