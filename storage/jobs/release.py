"""Rows of the queue whose worker is gone: given back, or failed after too many attempts, whatever their kind."""

from __future__ import annotations

from sqlalchemy.orm import Session

from storage.jobs import job_queue, leases, tasks
from storage.models.queue import Job, QueueRow, Task


def release_expired(session: Session) -> int:
    """Give rows back whose lease is over, or fail them after MAX_ATTEMPTS; return how many."""
    released, failed = leases.release_expired(session, _gave_up)
    for row in failed:  # the audit chain's lock comes last
        if isinstance(row, Job):
            job_queue.record_failure(session, row)
        elif isinstance(row, Task):
            tasks.record_failure(session, row)
    return released


def _gave_up(row: QueueRow) -> str:
    if isinstance(row, Job):
        return job_queue.GAVE_UP
    return tasks.gave_up(row.kind) if isinstance(row, Task) else "interrupted too often"
