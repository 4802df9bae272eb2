"""Public keys of receipts: each process that signs publishes its key; keys are never deleted."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.integrity.key_place import KeyPlace
from storage.models.core import AuditEvent
from storage.models.receipts import ReceiptKey

PUBLISHED = "receipts.key_published"
KEPT = "receipts.key_kept"  # where the private key is, as a process has found or put it at its start
MISSING = "receipts.key_missing"  # a process had none although keys were published, and began a new one


class PublicKey(NamedTuple):
    """A key that receipts may be signed with. `since`: seconds since 1970 UTC."""

    id: str
    public_key: str  # base64
    since: float


def publish(database: Database, key_id: str, *, public_key: str) -> bool:
    """Make a key known to everybody, on record; False where it is known. Several processes may do it at once."""
    try:
        with database.write() as session:
            if session.get(ReceiptKey, key_id) is not None:
                return False
            session.execute(insert(ReceiptKey).values(id=key_id, public_key=public_key))
            audit.append(session, PUBLISHED, data={"key_id": key_id, "public_key": public_key})
    except IntegrityError:  # another process was faster
        return False
    return True


def record_missing(database: Database, key_id: str) -> bool:
    """Say on record that this key was begun because none was found; False where it is the first of all."""
    with database.write() as session:
        earlier = sorted(session.scalars(select(ReceiptKey.id).where(ReceiptKey.id != key_id)))
        if earlier:
            audit.append(session, MISSING, data={"key_id": key_id, "earlier": earlier})
    return bool(earlier)


def record_place(database: Database, key_id: str, *, place: KeyPlace) -> None:
    """Say on record where the private key is, unless that was said last."""
    with database.read() as session:
        if _recorded_key(session) == (key_id, place):
            return
    with database.write() as session:
        audit.append(session, KEPT, data={"key_id": key_id, "place": place})


def place(session: Session) -> KeyPlace | None:
    """Return where the private key is; None where no process with a replica has said it."""
    kept = _recorded_key(session)
    return None if kept is None else kept[1]


def _recorded_key(session: Session) -> tuple[str, KeyPlace] | None:
    last = audit.newest(session, [KEPT], limit=1)
    return (last[0].body["key_id"], KeyPlace(last[0].body["place"])) if last else None


def list_keys(session: Session, *, through: int | None = None) -> list[PublicKey]:
    """Return all keys, or those that were on record when the chain ended with event `through`; the newest first."""
    wanted = select(ReceiptKey.id, ReceiptKey.public_key, ReceiptKey.since)
    if through is not None:
        events = select(AuditEvent.body).where(AuditEvent.kind == PUBLISHED, AuditEvent.seq <= through)
        wanted = wanted.where(ReceiptKey.id.in_([json.loads(body)["key_id"] for body in session.scalars(events)]))
    return [PublicKey(*row) for row in session.execute(wanted.order_by(ReceiptKey.since.desc(), ReceiptKey.id))]
