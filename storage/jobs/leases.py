"""Claims, leases and the fence: the only code that changes the state of a job, a task or an e-mail.

    queued --claim--> running --finish--> done
      ^                  |---fail-------> queued (tried again) or failed
      '---lease expired--'                failed after MAX_ATTEMPTS

A claim raises the row's epoch. A worker that finishes or fails a row must still hold that epoch, so a worker that slept
through its lease cannot write over the one that took the row since: the fence. All times are the database's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Row, Select, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from storage.clock import database_now
from storage.models.core import Job, State
from storage.models.moderation import Task
from storage.models.notifications import OutgoingEmail

MAX_ATTEMPTS = 5


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


@dataclass(frozen=True, slots=True)
class LeaseTable:
    """A table of work: its rows, the column that explains an end in plain words, and the columns of a claim."""

    rows: type[Job] | type[Task] | type[OutgoingEmail]
    explanation: str
    claimed: tuple[InstrumentedAttribute[Any], ...]

    def claim(
        self, session: Session, waiting: Select[int], *, lease: Lease, **also: Any
    ) -> Row[*tuple[Any, ...]] | None:
        """Take the first row of a query of ids, or None where there is none; `also`: other columns to write."""
        rows, first = self.rows, waiting.limit(1).with_for_update(skip_locked=True)
        values = {
            "state": State.RUNNING.value,
            "epoch": rows.epoch + 1,
            "attempts": rows.attempts + 1,
            "worker": lease.worker,
            "lease_until": database_now() + lease.seconds,
            "started_at": database_now(),
        }
        return session.execute(
            update(rows).where(rows.id == first.scalar_subquery()).values(**values, **also).returning(*self.claimed),
            execution_options={"synchronize_session": False},
        ).first()

    def extend(self, session: Session, held: Held, *, seconds: float) -> bool:
        """Make the lease last from now; False if it was lost."""
        return self._change(session, held, lease_until=database_now() + seconds)

    def write(self, session: Session, held: Held, **values: Any) -> None:
        """Write columns of a row that is held. Raises LeaseLost: then nothing may be recorded."""
        if not self._change(session, held, **values):
            raise LeaseLost(f"{self.rows.__tablename__} {held.id}, epoch {held.epoch}")

    def finish(self, session: Session, held: Held, **values: Any) -> None:
        """Mark the row done, in the transaction that records its result. Raises LeaseLost: then record nothing."""
        self.write(session, held, state=State.DONE.value, lease_until=None, finished_at=database_now(), **values)

    def fail(self, session: Session, held: Held, *, words: str, retry: bool) -> State:
        """End an attempt that did not work; return QUEUED if it is tried again at once, else FAILED. Raises
        LeaseLost."""
        why: dict[str, Any] = {self.explanation: words, "lease_until": None}
        if retry and held.attempts < MAX_ATTEMPTS:
            self.write(session, held, state=State.QUEUED.value, **why)
            return State.QUEUED
        self.write(session, held, state=State.FAILED.value, finished_at=database_now(), **why)
        return State.FAILED

    def any_expired(self, session: Session) -> bool:
        """Return whether release_expired would do something; for a look without a write transaction."""
        return session.scalars(select(self.rows.id).where(*self._late()).limit(1)).first() is not None

    def release_expired(
        self, session: Session, gave_up: Callable[[Any], str]
    ) -> tuple[int, Sequence[Row[*tuple[Any, ...]]]]:
        """Give rows back whose lease is over; those with MAX_ATTEMPTS fail, for the reason that `gave_up` says.

        Returns how many these were, and the claims of those that failed.
        """
        late = select(*self.claimed).where(*self._late()).order_by(self.rows.id)
        result = session.execute(late.with_for_update(skip_locked=True)).all()
        for row in result:
            values: dict[str, Any] = {"state": State.QUEUED.value}
            if row.attempts >= MAX_ATTEMPTS:
                values = {"state": State.FAILED.value, "finished_at": database_now(), self.explanation: gave_up(row)}
            session.execute(
                update(self.rows).where(self.rows.id == row.id).values(lease_until=None, **values),
                execution_options={"synchronize_session": False},
            )
        return len(result), [row for row in result if row.attempts >= MAX_ATTEMPTS]

    def _late(self) -> tuple[ColumnElement[bool], ...]:
        return (self.rows.state == State.RUNNING.value, self.rows.lease_until < database_now())

    def _change(self, session: Session, held: Held, **values: Any) -> bool:
        """Change a running row if the claim still holds it (the fence); return False if it does not."""
        rows = self.rows
        result = session.execute(
            update(rows)
            .where(rows.id == held.id, rows.epoch == held.epoch, rows.state == State.RUNNING.value)
            .values(**values)
            .returning(rows.id),
            execution_options={"synchronize_session": False},
        )
        return result.first() is not None
