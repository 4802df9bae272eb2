"""Claims, leases and the fence: the only code that changes the state of a job, a task or an e-mail.

    queued --claim--> running --finish--> done
      ^                  |---fail-------> queued (tried again) or failed
      '---lease expired--'                failed after MAX_ATTEMPTS

A claim raises the row's epoch. A worker that finishes or fails a row must still hold that epoch, so a worker that slept
through its lease cannot write over the one that took the row since: the fence. All times are the database's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Select, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.integrity import audit
from storage.models.queue import Job, QueueRow, State, Task
from vlrb.common.messages import _

MAX_ATTEMPTS = 5
GAVE_UP = _("Scoring was interrupted 5 times. This is a fault of the service, not of the file; maintainers see it.")
"""What is stored is translated as it stands, so it has no values: these are MAX_ATTEMPTS times."""
_TASK_GAVE_UP = _(
    "A worker was interrupted {times} times while doing this. Look at the workers' logs, then ask again: a change of "
    "the board goes on where it stopped.",
    times=MAX_ATTEMPTS,
)
JOB_FAILED, TASK_FAILED = "job.failed", "task.failed"
_Kind = TypeVar("_Kind", bound=QueueRow)


class LeaseLost(Exception):
    """The row was given to another worker, or is no longer running; nothing was recorded."""


class Lease(NamedTuple):
    """The worker that claims, and for how many seconds from now."""

    worker: str
    seconds: float


def claim(session: Session, waiting: Select[_Kind], *, lease: Lease) -> _Kind | None:
    """Take the first row of a query, or None where there is none. What is returned is held until the lease ends, and
    stays as it is now: its `epoch` is what the fence compares."""
    first = waiting.limit(1).with_for_update(skip_locked=True).execution_options(populate_existing=True)
    row = session.scalars(first).first()
    if row is not None:
        row.state, row.worker, row.progress = State.RUNNING.value, lease.worker, 0
        row.epoch, row.attempts = row.epoch + 1, row.attempts + 1
        row.started_at, row.lease_until = database_now(), database_now() + lease.seconds
        session.flush()
        session.expunge(row)
    return row


def extend(session: Session, held: QueueRow, *, seconds: float) -> bool:
    """Make the lease last from now; False if it was lost."""
    return _change(session, held, lease_until=database_now() + seconds)


def write(session: Session, held: QueueRow, **values: Any) -> None:
    """Write columns of a row that is held. Raises LeaseLost: then nothing may be recorded."""
    if not _change(session, held, **values):
        raise LeaseLost(f"queue {held.id}, epoch {held.epoch}")


def finish(session: Session, held: QueueRow, **values: Any) -> None:
    """Mark the row done, in the transaction that records its result. Raises LeaseLost: then record nothing."""
    ended = {"state": State.DONE.value, "lease_until": None, "finished_at": database_now()}
    write(session, held, **{"outcome": "", **ended, **values})


def fail(session: Session, held: QueueRow, *, outcome: str, retry: bool, **again: Any) -> State:
    """End an attempt that did not work; return QUEUED if it is tried again, else FAILED. Raises LeaseLost.

    `again`: columns to write where it is tried again; without any, that is at once.
    """
    why: dict[str, Any] = {"outcome": outcome, "lease_until": None}
    if retry and held.attempts < MAX_ATTEMPTS:
        write(session, held, state=State.QUEUED.value, **why, **again)
        return State.QUEUED
    write(session, held, state=State.FAILED.value, finished_at=database_now(), **why)
    _record_failure(session, held)
    return State.FAILED


def any_expired(session: Session) -> bool:
    """Return whether some lease is over; for a look without a write transaction."""
    return session.scalars(select(QueueRow.id).where(*_late()).limit(1)).first() is not None


def release_expired(session: Session) -> int:
    """Give rows back whose lease is over, or fail them after MAX_ATTEMPTS; return how many."""
    late = select(QueueRow).where(*_late()).order_by(QueueRow.id).with_for_update(skip_locked=True)
    rows = session.scalars(late, execution_options={"populate_existing": True}).all()
    failed = [row for row in rows if row.attempts >= MAX_ATTEMPTS]
    for row in rows:
        row.state, row.lease_until = State.QUEUED.value, None
    for row in failed:
        row.state, row.outcome, row.finished_at = State.FAILED.value, _gave_up(row), database_now()
    session.flush()
    for row in failed:  # the audit chain's lock comes last
        _record_failure(session, row)
    return len(rows)


def _gave_up(row: QueueRow) -> str:
    if isinstance(row, Task):
        return _TASK_GAVE_UP
    return GAVE_UP if isinstance(row, Job) else "interrupted too often"


def _record_failure(session: Session, row: QueueRow) -> None:
    """Record that a job or a task has failed for good."""
    if isinstance(row, Job):
        names = ("label_revision", "scorer_version")
        facts = {"submission": row.submission_id, **{name: getattr(row, name) for name in names}}
        audit.append(session, JOB_FAILED, data=facts)
    elif isinstance(row, Task):
        facts = {"task": row.id, **{name: getattr(row, name) for name in ("kind", "subject", "benchmark")}}
        audit.append(session, TASK_FAILED, data=facts)


def _late() -> tuple[ColumnElement[bool], ...]:
    return (QueueRow.state == State.RUNNING.value, QueueRow.lease_until < database_now())


def _change(session: Session, held: QueueRow, **values: Any) -> bool:
    """Change a running row if the claim still holds it (the fence); return False if it does not."""
    still_held = (QueueRow.id == held.id, QueueRow.epoch == held.epoch, QueueRow.state == State.RUNNING.value)
    return change_rows(session, update(QueueRow).where(*still_held).values(**values))
