"""Queue of messages to servers outside: claims and leases as of jobs, and attempts that come later and later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, select
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.jobs.leases import MAX_ATTEMPTS, Held, Lease, LeaseTable
from storage.models.core import State
from storage.models.notifications import OutgoingEmail, OutgoingWebhook

KEPT_SECONDS = 30 * 86_400.0
_BACKOFF_SECONDS = (60.0, 300.0, 1_800.0, 7_200.0)


@dataclass(frozen=True, slots=True)
class OutgoingQueue:
    """A table of messages. `claimed`: names of the columns that a claim has."""

    rows: type[OutgoingEmail] | type[OutgoingWebhook]
    claimed: tuple[str, ...]

    @property
    def _leases(self) -> LeaseTable:
        return LeaseTable(self.rows, "reason", claimed=tuple(getattr(self.rows, name) for name in self.claimed))

    def claim(self, session: Session, sender: str, *, lease_seconds: float) -> Row[*tuple[Any, ...]] | None:
        """Take the first message that is due; None where there is none."""
        first = select(self.rows.id).where(*self._due()).order_by(self.rows.due_at, self.rows.id)
        return self._leases.claim(session, first, lease=Lease(sender, lease_seconds))

    def any_due(self, session: Session) -> bool:
        """Return whether claim would find a message; for a look without a write transaction."""
        return session.scalars(select(self.rows.id).where(*self._due()).limit(1)).first() is not None

    def finish(self, session: Session, held: Held, **values: Any) -> None:
        """Mark a message done. Raises LeaseLost."""
        self._leases.finish(session, held, **values)

    def fail(self, session: Session, held: Held, *, why: str, retry: bool) -> float | None:
        """End an attempt that did not work; return in how many seconds the next one comes, None: it failed for good.

        Raises LeaseLost.
        """
        if not retry or held.attempts >= MAX_ATTEMPTS:
            self._leases.fail(session, held, words=why, retry=False)
            return None
        wait = _BACKOFF_SECONDS[held.attempts - 1]
        later = {"state": State.QUEUED.value, "lease_until": None, "due_at": database_now() + wait}
        self._leases.write(session, held, reason=why, **later)
        return wait

    def release_expired(self, session: Session) -> int:
        """Give messages back whose sender is gone, or fail them after MAX_ATTEMPTS; forget old ones. Return how
        many."""
        old = (self.rows.finished_at.is_not(None), self.rows.created_at < database_now() - KEPT_SECONDS)
        session.execute(delete(self.rows).where(*old), execution_options={"synchronize_session": False})
        return self._leases.release_expired(session, lambda message: "interrupted too often")[0]

    def _due(self) -> tuple[ColumnElement[bool], ...]:
        return (self.rows.state == State.QUEUED.value, self.rows.due_at <= database_now())
