"""Retry of a failed task: the same use case with the same parameters and all of its checks.

What changes the public board or reveals something wants its confirmation typed each time, so it is asked for where it
was asked for first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maintenance.actions import labels, operations, rescoring
from maintenance.types import ActionResult, Conflict, Identity, require_maintainer
from review import candidates, disputes, drafts, projects
from storage.database import Database
from storage.tasks import TaskView


def retry_task(database: Database, user: Identity, benchmark: str, task_id: int) -> ActionResult:
    """Have a failed task done again, as a new one. For maintainers. Raises AuthError, NotFound, Conflict.

    A file or dataset that is gone is noticed by the worker, whose task then fails again and says so.
    """
    require_maintainer(user)
    failed = operations.task(database, user, task_id)
    if failed.state != "failed":
        return ActionResult(False, f"Task {task_id} has not failed: it is {failed.state}.")
    if failed.kind in _CONFIRMED:
        raise Conflict(
            "not-confirmed", f"{_CONFIRMED[failed.kind]} {failed.subject} once more: that wants its name typed again."
        )
    if failed.kind not in _AGAIN:
        raise Conflict("unknown-task", f"Nothing here asks for {failed.kind} any more.")
    return _AGAIN[failed.kind](database, user, benchmark, failed)


def _import(database: Database, user: Identity, benchmark: str, failed: TaskView) -> ActionResult:
    told = (failed.subject, failed.params["spec"], failed.reason)
    return labels.request_import(database, user, benchmark, *told, **_shown(failed))


def _shown(failed: TaskView) -> dict[str, Any]:
    accepted = bool(failed.params.get("accept_weak_hiding"))
    return {"disclosure": failed.params["disclosure"], "accept_weak_hiding": accepted}


def _draft(database: Database, user: Identity, benchmark: str, failed: TaskView) -> ActionResult:
    if "project" in failed.params:
        told = (failed.params["project"], failed.subject, failed.reason)
        return projects.close(database, user, benchmark, *told, **_shown(failed))
    said = (failed.subject, failed.params["base"], failed.reason, failed.params["disputes"])
    return disputes.request_draft(database, user, benchmark, *said, **_shown(failed))


def _preview(database: Database, user: Identity, benchmark: str, failed: TaskView) -> ActionResult:
    scope, version = failed.params["scope"], failed.params["scorer_version"]
    return rescoring.request_preview(database, user, benchmark, failed.subject, **scope, scorer_version=version)


_AGAIN: dict[str, Callable[[Database, Identity, str, TaskView], ActionResult]] = {
    operations.BACKUP: lambda database, user, benchmark, failed: operations.request_backup(database, user),
    labels.IMPORT: _import,
    drafts.DRAFT: _draft,
    candidates.PROPOSE: lambda database, user, benchmark, failed: candidates.request(database, user, benchmark),
    rescoring.PREVIEW: _preview,
    labels.DISCARD: lambda database, user, benchmark, failed: labels.request_discard(
        database, user, benchmark, failed.subject, failed.reason
    ),
}
_CONFIRMED = {rescoring.APPLY: "Apply revision", labels.RETIRE: "Retire revision"}
