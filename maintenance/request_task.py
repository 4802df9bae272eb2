"""Enqueue a task for the workers in the transaction of the use case."""

from __future__ import annotations

from typing import Any

from maintenance.action_context import ActionContext
from maintenance.types import Conflict
from storage.database import Session
from storage.jobs import tasks
from storage.jobs.tasks import TaskConflict
from storage.models.queue import Task


def request_task(ctx: ActionContext, session: Session, *, kind: str, subject: str, **more: Any) -> tuple[int, bool]:
    """Return the task that does it: its number, and whether it is new. Raises Conflict where another must end first.

    `more`: the other fields of a request, but for who asks and about which benchmark.
    """
    asked = {"params": {}, "requested_by": ctx.user.account, "benchmark": ctx.benchmark, **more}
    try:
        return tasks.request(session, Task(kind=kind, subject=subject, **asked))
    except TaskConflict as busy:
        raise Conflict("busy", str(busy)) from busy
