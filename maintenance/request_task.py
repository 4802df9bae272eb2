"""Enqueue a task for the workers in the transaction of the use case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance.types import Conflict, Identity
from storage import tasks
from storage.tasks import TaskConflict


def request_task(
    session: Any,
    user: Identity,
    kind: str,
    subject: str,
    params: Mapping[str, Any],
    reason: str,
    *,
    scorer_version: str | None = None,
) -> tuple[int, bool]:
    """Return the task that does it: its number, and whether it is new. Raises Conflict where another must end first."""
    try:
        return tasks.request(session, kind, subject, params, reason, user.account, scorer_version=scorer_version)
    except TaskConflict as busy:
        raise Conflict("busy", str(busy)) from busy
