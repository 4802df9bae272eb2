"""SQL of maintainers' digests: who wants one, and when the next one is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, exists, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.integrity import audit
from storage.models.notifications import EmailSubscription, MaintainerDigest, OutgoingEmail

DAY_SECONDS = 86_400.0
_NO_SYNC = {"synchronize_session": False}


class StoredDigest(NamedTuple):
    """A digest that an account wants; `seen_seq`: the last audit event that it has covered."""

    account: str
    id: str
    seen_seq: int


_DIGEST = tuple(getattr(MaintainerDigest, name) for name in StoredDigest._fields)


def wanted(session: Session, account: str) -> bool:
    """Return whether an account wants digests."""
    return bool(session.scalar(select(exists().where(MaintainerDigest.account == account))))


def begin(session: Session, account: str, *, new_id: str) -> None:
    """Send digests to an account that has none yet: the first one in a day, of what happens until then."""
    if not wanted(session, account):
        values = {"id": new_id, "seen_seq": audit.head(session).seq, "due_at": database_now() + DAY_SECONDS}
        session.execute(insert(MaintainerDigest).values(account=account, **values))


def end(session: Session, account: str) -> None:
    """Send an account no more digests."""
    session.execute(delete(MaintainerDigest).where(MaintainerDigest.account == account), execution_options=_NO_SYNC)


def by_id(session: Session, digest_id: str) -> StoredDigest | None:
    """Return the digest that an e-mail is of; None for one that a later digest has followed."""
    row = session.execute(select(*_DIGEST).where(MaintainerDigest.id == digest_id)).first()
    return None if row is None else StoredDigest(*row)


def due(session: Session) -> list[StoredDigest]:
    """Return the digests that are due, of accounts whose address is confirmed."""
    address = (EmailSubscription.account == MaintainerDigest.account, EmailSubscription.confirmed_at.is_not(None))
    rows = select(*_DIGEST).where(MaintainerDigest.due_at <= database_now(), exists().where(*address))
    return [StoredDigest(*row) for row in session.execute(rows)]


def queue(
    session: Session, digest: StoredDigest, *, next_id: str, through: int, lines: Sequence[Mapping[str, Any]], key: str
) -> bool:
    """Queue a digest if there are lines, and make the next one due in a day, under another id, in one transaction.

    `key`: keyed digest of the address. Return False where another process was faster: then nothing is queued.
    """
    values = {"id": next_id, "seen_seq": through, "due_at": database_now() + DAY_SECONDS}
    moved = update(MaintainerDigest).where(MaintainerDigest.id == digest.id).values(**values)
    if session.execute(moved.returning(MaintainerDigest.id), execution_options=_NO_SYNC).first() is None:
        return False
    if lines:
        about = {"account": digest.account, "subscription": next_id, "address_key": key}
        session.execute(insert(OutgoingEmail).values(**about, through_seq=through, lines=list(lines)))
    return True
