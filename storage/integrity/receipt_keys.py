"""Place of the private key of receipts, on record: as a process with a replica has found or put it at its start."""

from __future__ import annotations

from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.integrity.key_place import KeyPlace

KEPT = "receipts.key_kept"


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
