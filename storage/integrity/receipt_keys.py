"""Public keys of receipts: each process that signs publishes its key; keys are never deleted."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent
from storage.models.receipts import ReceiptKey

PUBLISHED = "receipts.key_published"


class PublicKey(NamedTuple):
    """A key that receipts may be signed with. `since`: seconds since 1970 UTC."""

    id: str
    public_key: str  # base64
    since: float


def publish(database: Database, key_id: str, public_key: str) -> bool:
    """Make a key known to everybody, on record; False where it is known. Several processes may do it at once."""
    try:
        with database.write() as session:
            if session.get(ReceiptKey, key_id) is not None:
                return False
            session.execute(insert(ReceiptKey).values(id=key_id, public_key=public_key))
            audit.append(session, PUBLISHED, {"key_id": key_id, "public_key": public_key})
    except IntegrityError:  # another process was faster
        return False
    return True


def list_keys(session: Session, *, through: int | None = None) -> list[PublicKey]:
    """Return all keys, or those that were on record when the chain ended with event `through`; the newest first."""
    wanted = select(ReceiptKey.id, ReceiptKey.public_key, ReceiptKey.since)
    if through is not None:
        events = select(AuditEvent.body).where(AuditEvent.kind == PUBLISHED, AuditEvent.seq <= through)
        wanted = wanted.where(ReceiptKey.id.in_([json.loads(body)["key_id"] for body in session.scalars(events)]))
    return [PublicKey(*row) for row in session.execute(wanted.order_by(ReceiptKey.since.desc(), ReceiptKey.id))]
