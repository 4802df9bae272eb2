"""SQL of accounts, sessions and tokens. All instants come from the database's clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from storage.clock import database_now, read_clock
from storage.database import change_rows
from storage.models.core import Account, ApiToken, RoleBinding, UserSession

__all__ = ["IntegrityError", "SQLAlchemyError"]

_KEEP_ENDED = 86_400.0  # seconds that ended sessions stay, longer than any sign-in can be replayed


# Accounts


def upsert_account(
    session: Session,
    issuer: str,
    *,
    subject: str,
    name: str,
    organisations: Sequence[dict[str, Any]],
    created_at: float | None,
) -> Account:
    """Record what the issuer says at a sign-in; returns the account."""
    at = read_clock(session)
    account = session.scalars(select(Account).filter_by(issuer=issuer, subject=subject)).one_or_none()
    if account is None:
        account = Account(issuer=issuer, subject=subject, first_seen_at=at)
        session.add(account)
    account.name, account.organisations = name, list(organisations)
    account.confirmed_at = account.last_seen_at = at
    account.issuer_created_at = created_at or account.issuer_created_at
    session.flush()
    return account


def ban(session: Session, account_id: str, *, banned: bool) -> bool:
    """Ban or unban an account. Return whether that changed anything."""
    other = Account.banned_at.is_(None) if banned else Account.banned_at.is_not(None)
    values = {"banned_at": database_now() if banned else None}
    return change_rows(session, update(Account).where(Account.id == account_id, other).values(values))


def bind_names(session: Session, issuer: str, *, names: Iterable[str], account_id: str) -> list[str]:
    """Bind unassigned configured names to an account; return the newly bound ones."""
    wanted = set(names)
    if not wanted:
        return []
    taken = select(RoleBinding.name).where(RoleBinding.issuer == issuer, RoleBinding.name.in_(wanted))
    free = sorted(wanted - set(session.execute(taken).scalars()))
    for name in free:
        session.execute(insert(RoleBinding).values(issuer=issuer, name=name, account_id=account_id))
    return free


def bound_names(session: Session, account_id: str) -> frozenset[str]:
    """Return the configured names that mean this account."""
    return frozenset(session.execute(select(RoleBinding.name).where(RoleBinding.account_id == account_id)).scalars())


# Sessions


def add_session(session: Session, id_sha256: str, *, sign_in_sha256: str, account_id: str, seconds: float) -> None:
    """Add a session, and clears away those long over. Raises IntegrityError if the sign-in has made one before."""
    at = read_clock(session)
    change_rows(session, delete(UserSession).where(UserSession.expires_at < at - _KEEP_ENDED))
    times = {"created_at": at, "last_seen_at": at, "expires_at": at + seconds}
    session.execute(
        insert(UserSession).values(id_sha256=id_sha256, sign_in_sha256=sign_in_sha256, account_id=account_id, **times)
    )


def live_session(session: Session, id_sha256: str, *, idle_seconds: float) -> tuple[Account, float] | None:
    """Return the account of a session that has not ended or expired, and the seconds since it was last used."""
    idle = database_now() - UserSession.last_seen_at
    live = (UserSession.ended_at.is_(None), UserSession.expires_at > database_now(), idle < idle_seconds)
    row = session.execute(
        select(Account, idle)
        .join(UserSession, UserSession.account_id == Account.id)
        .where(UserSession.id_sha256 == id_sha256, *live)
    ).one_or_none()
    return row and (row[0], row[1])


def touch_session(session: Session, id_sha256: str) -> None:
    """Record that a session is in use."""
    used = update(UserSession).where(UserSession.id_sha256 == id_sha256)
    change_rows(session, used.values(last_seen_at=database_now()))


def end_session(session: Session, id_sha256: str) -> None:
    """End one session."""
    _end(session, UserSession.id_sha256 == id_sha256)


def end_sessions(session: Session, account_id: str) -> bool:
    """End all sessions of an account. Return whether there were any."""
    return _end(session, UserSession.account_id == account_id)


def _end(session: Session, which: ColumnElement[bool]) -> bool:
    live = update(UserSession).where(which, UserSession.ended_at.is_(None))
    return change_rows(session, live.values(ended_at=database_now()))


# API tokens


def lock_account(session: Session, account_id: str) -> None:
    """Make others that do this wait until the end of the transaction (SQLite has one writer anyway)."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())


def tokens_in_use(session: Session, account_id: str) -> Sequence[ApiToken]:
    """Return the tokens that were not revoked, the newest first."""
    rows = select(ApiToken).where(ApiToken.account_id == account_id, ApiToken.revoked_at.is_(None))
    return session.scalars(rows.order_by(ApiToken.created_at.desc(), ApiToken.id)).all()


def add_token(session: Session, token: ApiToken, *, seconds: float) -> None:
    """Add a token that holds so long. Raises IntegrityError if the account has one of this name in use."""
    token.created_at = read_clock(session)
    token.expires_at = token.created_at + seconds
    session.add(token)
    session.flush()


def revoke_token(session: Session, account_id: str, *, token_id: str) -> bool:
    """Revoke a token of this account. Return whether there was one to revoke."""
    own = (ApiToken.id == token_id, ApiToken.account_id == account_id, ApiToken.revoked_at.is_(None))
    return change_rows(session, update(ApiToken).where(*own).values(revoked_at=database_now()))


def token(session: Session, token_sha256: str) -> tuple[Account, ApiToken, float] | None:
    """Return the token with this digest, revoked and expired ones included, and the seconds since its recorded use."""
    row = session.execute(
        select(Account, ApiToken, database_now() - func.coalesce(ApiToken.last_used_at, 0.0))
        .join(ApiToken, ApiToken.account_id == Account.id)
        .where(ApiToken.token_sha256 == token_sha256)
    ).one_or_none()
    return row and (row[0], row[1], row[2])


def touch_token(session: Session, token_id: str) -> None:
    """Record that a token is in use."""
    change_rows(session, update(ApiToken).where(ApiToken.id == token_id).values(last_used_at=database_now()))
