"""Enqueue a task for the workers in the transaction of the use case."""

from __future__ import annotations

from maintenance.types import Conflict
from storage.database import Session
from storage.jobs import tasks
from storage.jobs.tasks import TaskConflict, TaskRequest


def request_task(session: Session, wanted: TaskRequest) -> tuple[int, bool]:
    """Return the task that does it: its number, and whether it is new. Raises Conflict where another must end first."""
    try:
        return tasks.request(session, wanted)
    except TaskConflict as busy:
        raise Conflict("busy", str(busy)) from busy
