"""SQL of accounts, sessions, tokens and login failures. All instants come from the database's clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.models.core import Account, ApiToken, AuthFailure, RoleBinding, UserSession, new_account_id

__all__ = ["IntegrityError", "SQLAlchemyError"]

_KEEP_ENDED = 86_400.0  # seconds that ended sessions stay, longer than any sign-in can be replayed
_NO_SYNC = {"synchronize_session": False}


class KnownAccount(NamedTuple):
    """An account, as far as authentication needs it."""

    id: str
    issuer: str
    subject: str
    name: str
    organisations: Sequence[dict[str, Any]]
    issuer_created_at: float | None
    first_seen_at: float
    banned: bool


class LiveSession(NamedTuple):
    """A session that holds."""

    account: KnownAccount
    idle: float  # seconds since it was last used


class LiveToken(NamedTuple):
    """A token and whether it holds."""

    id: str
    account: KnownAccount
    token_sha256: str
    scopes: str
    unused: float  # seconds since its last use was recorded
    revoked: bool
    expired: bool


class TokenRow(NamedTuple):
    """A token as its owner sees it."""

    id: str
    name: str
    scopes: str
    created_at: float
    expires_at: float
    last_used_at: float | None
    expired: bool


class SessionRow(NamedTuple):
    """A session as its owner sees it."""

    id_sha256: str
    created_at: float
    last_seen_at: float
    expires_at: float


def now(session: Session) -> float:
    """Return seconds since 1970 on the database's clock."""
    return session.execute(select(database_now())).scalar_one()


# Accounts


_KNOWN = (
    Account.id,
    Account.issuer,
    Account.subject,
    Account.name,
    Account.organisations,
    Account.issuer_created_at,
    Account.first_seen_at,
    Account.banned_at.is_not(None),
)


def account(session: Session, account_id: str) -> KnownAccount | None:
    """Return an account by its id."""
    row = session.execute(select(*_KNOWN).where(Account.id == account_id)).one_or_none()
    return KnownAccount(*row) if row else None


def upsert_account(
    session: Session,
    issuer: str,
    *,
    subject: str,
    name: str,
    organisations: Sequence[dict[str, Any]],
    created_at: float | None,
) -> str:
    """Record what the issuer says at a sign-in; returns the account's id."""
    at = now(session)
    values = {"name": name, "organisations": list(organisations), "confirmed_at": at, "last_seen_at": at}
    if created_at is not None:
        values["issuer_created_at"] = created_at
    same = (Account.issuer == issuer, Account.subject == subject)
    known = session.execute(select(Account.id).where(*same)).scalar_one_or_none()
    if known is not None:
        session.execute(update(Account).where(Account.id == known).values(**values), execution_options=_NO_SYNC)
        return known
    account_id = new_account_id()
    session.execute(insert(Account).values(id=account_id, issuer=issuer, subject=subject, first_seen_at=at, **values))
    return account_id


def ban(session: Session, account_id: str, *, banned: bool) -> bool:
    """Ban or unban an account. Return whether that changed anything."""
    changed = session.execute(
        update(Account)
        .where(Account.id == account_id, Account.banned_at.is_(None) if banned else Account.banned_at.is_not(None))
        .values(banned_at=database_now() if banned else None)
        .returning(Account.id),
        execution_options=_NO_SYNC,
    ).first()
    return changed is not None


def bind_names(session: Session, issuer: str, *, names: Iterable[str], account_id: str) -> list[str]:
    """Bind unassigned configured names to an account; return the newly bound ones."""
    wanted = set(names)
    if not wanted:
        return []
    taken = select(RoleBinding.name).where(RoleBinding.issuer == issuer, RoleBinding.name.in_(wanted))
    free = sorted(wanted - set(session.execute(taken).scalars()))
    for name in free:
        session.execute(
            insert(RoleBinding).values(issuer=issuer, name=name, account_id=account_id, bound_at=now(session))
        )
    return free


def bound_names(session: Session, account_id: str) -> frozenset[str]:
    """Return the configured names that mean this account."""
    return frozenset(session.execute(select(RoleBinding.name).where(RoleBinding.account_id == account_id)).scalars())


# Sessions


def add_session(session: Session, id_sha256: str, *, sign_in_sha256: str, account_id: str, seconds: float) -> None:
    """Add a session, and clears away those long over. Raises IntegrityError if the sign-in has made one before."""
    at = now(session)
    session.execute(delete(UserSession).where(UserSession.expires_at < at - _KEEP_ENDED), execution_options=_NO_SYNC)
    session.execute(
        insert(UserSession).values(
            id_sha256=id_sha256,
            sign_in_sha256=sign_in_sha256,
            account_id=account_id,
            created_at=at,
            last_seen_at=at,
            expires_at=at + seconds,
        )
    )


def _live(idle_seconds: float) -> tuple[ColumnElement[bool], ...]:
    return (
        UserSession.ended_at.is_(None),
        UserSession.expires_at > database_now(),
        UserSession.last_seen_at + idle_seconds > database_now(),
    )


def live_session(session: Session, id_sha256: str, *, idle_seconds: float) -> LiveSession | None:
    """Return the session with this id, if it has not ended or expired."""
    row = session.execute(
        select(*_KNOWN, database_now() - UserSession.last_seen_at)
        .join(UserSession, UserSession.account_id == Account.id)
        .where(UserSession.id_sha256 == id_sha256, *_live(idle_seconds))
    ).one_or_none()
    return LiveSession(KnownAccount(*row[:-1]), row[-1]) if row else None


def live_sessions(session: Session, account_id: str, *, idle_seconds: float) -> list[SessionRow]:
    """Return all sessions of an account that hold, the newest first."""
    columns = (UserSession.id_sha256, UserSession.created_at, UserSession.last_seen_at, UserSession.expires_at)
    rows = session.execute(
        select(*columns)
        .where(UserSession.account_id == account_id, *_live(idle_seconds))
        .order_by(UserSession.created_at.desc())
    )
    return [SessionRow(*row) for row in rows]


def touch_session(session: Session, id_sha256: str) -> None:
    """Record that a session is in use."""
    session.execute(
        update(UserSession).where(UserSession.id_sha256 == id_sha256).values(last_seen_at=database_now()),
        execution_options=_NO_SYNC,
    )


def end_session(session: Session, id_sha256: str) -> None:
    """End one session."""
    session.execute(
        update(UserSession)
        .where(UserSession.id_sha256 == id_sha256, UserSession.ended_at.is_(None))
        .values(ended_at=database_now()),
        execution_options=_NO_SYNC,
    )


def end_sessions(session: Session, account_id: str) -> int:
    """End all sessions of an account; returns how many there were."""
    ended = session.execute(
        update(UserSession)
        .where(UserSession.account_id == account_id, UserSession.ended_at.is_(None))
        .values(ended_at=database_now())
        .returning(UserSession.id_sha256),
        execution_options=_NO_SYNC,
    ).all()
    return len(ended)


# API tokens


def lock_account(session: Session, account_id: str) -> None:
    """Make others that do this wait until the end of the transaction (SQLite has one writer anyway)."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())


def tokens_in_use(session: Session, account_id: str) -> list[TokenRow]:
    """Return the tokens that were not revoked, the newest first."""
    rows = session.execute(
        select(
            ApiToken.id,
            ApiToken.name,
            ApiToken.scopes,
            ApiToken.created_at,
            ApiToken.expires_at,
            ApiToken.last_used_at,
            ApiToken.expires_at <= database_now(),
        )
        .where(ApiToken.account_id == account_id, ApiToken.revoked_at.is_(None))
        .order_by(ApiToken.created_at.desc(), ApiToken.id)
    )
    return [TokenRow(*row) for row in rows]


class NewToken(NamedTuple):
    """A token to be stored."""

    id: str
    account_id: str
    name: str
    token_sha256: str
    scopes: str


def add_token(session: Session, token: NewToken, *, seconds: float) -> None:
    """Add a token that holds so long. Raises IntegrityError if the account has one of this name in use."""
    at = now(session)
    session.execute(insert(ApiToken).values(**token._asdict(), created_at=at, expires_at=at + seconds))


def revoke_token(session: Session, account_id: str, *, token_id: str) -> bool:
    """Revoke a token of this account. Return whether there was one to revoke."""
    revoked = session.execute(
        update(ApiToken)
        .where(ApiToken.id == token_id, ApiToken.account_id == account_id, ApiToken.revoked_at.is_(None))
        .values(revoked_at=database_now())
        .returning(ApiToken.id),
        execution_options=_NO_SYNC,
    ).first()
    return revoked is not None


def token(session: Session, token_sha256: str) -> LiveToken | None:
    """Return the token with this digest, revoked and expired ones included."""
    row = session.execute(
        select(
            *_KNOWN,
            ApiToken.id,
            ApiToken.token_sha256,
            ApiToken.scopes,
            database_now() - func.coalesce(ApiToken.last_used_at, 0.0),
            ApiToken.revoked_at.is_not(None),
            ApiToken.expires_at <= database_now(),
        )
        .join(ApiToken, ApiToken.account_id == Account.id)
        .where(ApiToken.token_sha256 == token_sha256)
    ).one_or_none()
    if row is None:
        return None
    id_, sha256, scopes, unused, revoked, expired = row[len(_KNOWN) :]
    return LiveToken(
        id_,
        KnownAccount(*row[: len(_KNOWN)]),
        token_sha256=sha256,
        scopes=scopes,
        unused=unused,
        revoked=bool(revoked),
        expired=bool(expired),
    )


def touch_token(session: Session, token_id: str) -> None:
    """Record that a token is in use."""
    session.execute(
        update(ApiToken).where(ApiToken.id == token_id).values(last_used_at=database_now()),
        execution_options=_NO_SYNC,
    )


# Failed attempts


def locked_for(session: Session, kind: str, *, source: str, most: int, window: float) -> float | None:
    """Return seconds until another attempt is allowed; None if one is allowed now."""
    kth_latest = session.execute(
        select(AuthFailure.at - (database_now() - window))
        .where(AuthFailure.kind == kind, AuthFailure.source == source, AuthFailure.at > database_now() - window)
        .order_by(AuthFailure.at.desc())
        .offset(most - 1)
        .limit(1)
    ).scalar_one_or_none()
    return None if kth_latest is None else max(float(kth_latest), 1.0)


def add_failure(session: Session, kind: str, *, source: str, window: float) -> None:
    """Record a failed attempt, and clears away those that no longer count."""
    at = now(session)
    session.execute(delete(AuthFailure).where(AuthFailure.at < at - window), execution_options=_NO_SYNC)
    session.execute(insert(AuthFailure).values(kind=kind, source=source, at=at))
