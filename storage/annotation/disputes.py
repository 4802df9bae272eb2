"""SQL of label disputes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.models.review import Dispute


class Disputed(NamedTuple):
    """A dispute. Instants are seconds since 1970, UTC."""

    id: int
    item: str  # key
    account: str
    better: str
    tag: str | None
    reason: str
    state: str
    note: str | None
    decided_by: str | None
    decided_at: float | None
    created_at: float


_COLUMNS = tuple(getattr(Dispute, name) for name in Disputed._fields)


def open_ones(session: Session, benchmark: str, *, account: str) -> dict[str, int]:
    """Return item key -> dispute, of those that an account has open."""
    wanted = select(Dispute.item, Dispute.id).where(
        Dispute.benchmark == benchmark, Dispute.account == account, Dispute.state == "open"
    )
    return {row.item: row.id for row in session.execute(wanted)}


def add(session: Session, benchmark: str, **values: Any) -> int:
    """Return the number of a new dispute. Raises IntegrityError where the account has one open about the item."""
    new = insert(Dispute).values(benchmark=benchmark, **values)
    return session.execute(new.returning(Dispute.id)).scalar_one()


def of_account(session: Session, benchmark: str, *, account: str, limit: int = 500) -> list[Disputed]:
    """Return what an account has disputed, the newest first."""
    return _listed(session, Dispute.benchmark == benchmark, Dispute.account == account, limit=limit)


def in_state(session: Session, benchmark: str, *, state: str, limit: int = 5000) -> list[Disputed]:
    """Disputes in a state, the newest first."""
    return _listed(session, Dispute.benchmark == benchmark, Dispute.state == state, limit=limit)


def find(session: Session, benchmark: str, *, ids: Sequence[int]) -> list[Disputed]:
    """Return those of the ids that there are."""
    return _listed(session, Dispute.benchmark == benchmark, Dispute.id.in_(ids), limit=len(ids))


def decide(session: Session, dispute_id: int, *, state: str, note: str, by: str) -> bool:
    """Accept or reject one that is open; False where it is not, so that of two maintainers the first decides."""
    still_open = update(Dispute).where(Dispute.id == dispute_id, Dispute.state == "open")
    values = {"state": state, "note": note, "decided_by": by, "decided_at": database_now()}
    return change_rows(session, still_open.values(**values))


def _listed(session: Session, *conditions: object, limit: int) -> list[Disputed]:
    wanted = select(*_COLUMNS).where(*conditions).order_by(Dispute.id.desc()).limit(limit)  # type: ignore[arg-type]
    return [Disputed(*row) for row in session.execute(wanted)]
