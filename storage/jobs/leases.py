"""Claims, leases and the fence: the only code that changes the state of a job, a task or an e-mail.

    queued --claim--> running --finish--> done
      ^                  |---fail-------> queued (tried again) or failed
      '---lease expired--'                failed after MAX_ATTEMPTS

A claim raises the row's epoch. A worker that finishes or fails a row must still hold that epoch, so a worker that slept
through its lease cannot write over the one that took the row since: the fence. All times are the database's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Row, Select, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from storage.clock import database_now
from storage.models.queue import QueueRow, State

MAX_ATTEMPTS = 5
_NO_SYNC = {"synchronize_session": False}


class LeaseLost(Exception):
    """The row was given to another worker, or is no longer running; nothing was recorded."""


class Held(Protocol):
    """A claim: a row that a worker holds until its lease ends. `epoch` is what the fence compares."""

    @property
    def id(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def attempts(self) -> int: ...


class Lease(NamedTuple):
    """The worker that claims, and for how many seconds from now."""

    worker: str
    seconds: float


def claim(
    session: Session,
    waiting: Select[int],
    *,
    lease: Lease,
    columns: Sequence[InstrumentedAttribute[Any]],
) -> Row[*tuple[Any, ...]] | None:
    """Take the first row of a query of ids and return these columns of it, or None where there is none."""
    first = waiting.limit(1).with_for_update(skip_locked=True)
    values = {
        "state": State.RUNNING.value,
        "epoch": QueueRow.epoch + 1,
        "attempts": QueueRow.attempts + 1,
        "worker": lease.worker,
        "progress": 0,
        "lease_until": database_now() + lease.seconds,
        "started_at": database_now(),
    }
    taken = update(QueueRow).where(QueueRow.id == first.scalar_subquery()).values(**values).returning(*columns)
    return session.execute(taken, execution_options=_NO_SYNC).first()


def extend(session: Session, held: Held, *, seconds: float) -> bool:
    """Make the lease last from now; False if it was lost."""
    return _change(session, held, lease_until=database_now() + seconds)


def write(session: Session, held: Held, **values: Any) -> None:
    """Write columns of a row that is held. Raises LeaseLost: then nothing may be recorded."""
    if not _change(session, held, **values):
        raise LeaseLost(f"queue {held.id}, epoch {held.epoch}")


def finish(session: Session, held: Held, **values: Any) -> None:
    """Mark the row done, in the transaction that records its result. Raises LeaseLost: then record nothing."""
    ended = {"state": State.DONE.value, "lease_until": None, "finished_at": database_now()}
    write(session, held, **{"outcome": "", **ended, **values})


def fail(session: Session, held: Held, *, outcome: str, retry: bool, **again: Any) -> State:
    """End an attempt that did not work; return QUEUED if it is tried again, else FAILED. Raises LeaseLost.

    `again`: columns to write where it is tried again; without any, that is at once.
    """
    why: dict[str, Any] = {"outcome": outcome, "lease_until": None}
    if retry and held.attempts < MAX_ATTEMPTS:
        write(session, held, state=State.QUEUED.value, **why, **again)
        return State.QUEUED
    write(session, held, state=State.FAILED.value, finished_at=database_now(), **why)
    return State.FAILED


def any_expired(session: Session) -> bool:
    """Return whether some lease is over; for a look without a write transaction."""
    return session.scalars(select(QueueRow.id).where(*_late()).limit(1)).first() is not None


def release_expired(session: Session, gave_up: Callable[[QueueRow], str]) -> tuple[int, Sequence[QueueRow]]:
    """Give rows back whose lease is over; those with MAX_ATTEMPTS fail, with the outcome that `gave_up` says.

    Returns how many these were, and those that failed.
    """
    late = select(QueueRow).where(*_late()).order_by(QueueRow.id).with_for_update(skip_locked=True)
    rows = session.scalars(late, execution_options={"populate_existing": True}).all()
    failed = [row for row in rows if row.attempts >= MAX_ATTEMPTS]
    for row in rows:
        row.state, row.lease_until = State.QUEUED.value, None
    for row in failed:
        row.state, row.outcome, row.finished_at = State.FAILED.value, gave_up(row), database_now()
    session.flush()
    return len(rows), failed


def _late() -> tuple[ColumnElement[bool], ...]:
    return (QueueRow.state == State.RUNNING.value, QueueRow.lease_until < database_now())


def _change(session: Session, held: Held, **values: Any) -> bool:
    """Change a running row if the claim still holds it (the fence); return False if it does not."""
    still_held = (QueueRow.id == held.id, QueueRow.epoch == held.epoch, QueueRow.state == State.RUNNING.value)
    changed = update(QueueRow).where(*still_held).values(**values).returning(QueueRow.id)
    return session.execute(changed, execution_options=_NO_SYNC).first() is not None
