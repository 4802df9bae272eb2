"""Asking again for a task that failed: the same use case with the same parameters, which looks anew whether it can be.

What changes the public board or reveals something wants its confirmation typed each time, so it is asked for where it
was asked for first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maintenance import labels, operations, rescoring
from maintenance.review import candidates, disputes, drafts, projects
from maintenance.values import Done, Identity, NotPossible, require_maintainer
from storage.database import Database
from storage.tasks import TaskView


def ask_again(database: Database, who: Identity, benchmark: str, task_id: int) -> Done:
    """Have a failed task done again, as a new one. For maintainers. Raises Refused, NotFound, NotPossible.

    A file or dataset that is gone is noticed by the worker, whose task then fails again and says so.
    """
    require_maintainer(who)
    failed = operations.task(database, who, task_id)
    if failed.state != "failed":
        return Done(False, f"Task {task_id} has not failed: it is {failed.state}.")
    if failed.kind in _CONFIRMED:
        raise NotPossible(
            "not-confirmed", f"{_CONFIRMED[failed.kind]} {failed.subject} once more: that wants its name typed again."
        )
    if failed.kind not in _AGAIN:
        raise NotPossible("unknown-task", f"Nothing here asks for {failed.kind} any more.")
    return _AGAIN[failed.kind](database, who, benchmark, failed)


def _import(database: Database, who: Identity, benchmark: str, failed: TaskView) -> Done:
    told = (failed.subject, failed.params["spec"], failed.reason)
    return labels.request_import(database, who, benchmark, *told, **_shown(failed))


def _shown(failed: TaskView) -> dict[str, Any]:
    accepted = bool(failed.params.get("accept_weak_hiding"))
    return {"disclosure": failed.params["disclosure"], "accept_weak_hiding": accepted}


def _draft(database: Database, who: Identity, benchmark: str, failed: TaskView) -> Done:
    if "project" in failed.params:
        told = (failed.params["project"], failed.subject, failed.reason)
        return projects.close(database, who, benchmark, *told, **_shown(failed))
    said = (failed.subject, failed.params["base"], failed.reason, failed.params["disputes"])
    return disputes.request_draft(database, who, benchmark, *said, **_shown(failed))


def _preview(database: Database, who: Identity, benchmark: str, failed: TaskView) -> Done:
    scope, version = failed.params["scope"], failed.params["scorer_version"]
    return rescoring.request_preview(database, who, benchmark, failed.subject, **scope, scorer_version=version)


_AGAIN: dict[str, Callable[[Database, Identity, str, TaskView], Done]] = {
    operations.BACKUP: lambda database, who, benchmark, failed: operations.request_backup(database, who),
    labels.IMPORT: _import,
    drafts.DRAFT: _draft,
    candidates.PROPOSE: lambda database, who, benchmark, failed: candidates.request(database, who, benchmark),
    rescoring.PREVIEW: _preview,
    labels.DISCARD: lambda database, who, benchmark, failed: labels.request_discard(
        database, who, benchmark, failed.subject, failed.reason
    ),
}
_CONFIRMED = {rescoring.APPLY: "Apply revision", labels.RETIRE: "Retire revision"}
