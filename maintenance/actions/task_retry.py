"""Retry of a failed task: the same action with the same parameters and all of its checks.

Actions say how their tasks are asked for again (`retry` of their declaration). What changes the public board or
reveals something needs its confirmation typed each time, so it is asked for where it was asked for first.
"""

from __future__ import annotations

from maintenance.action_context import ActionContext
from maintenance.actions import operations
from maintenance.registry import RowNumber, action
from maintenance.types import ActionResult, Conflict


@action(
    "tasks.retry",
    "POST /api/v1/maintenance/tasks/{task}/retry",
    help="ask for a failed task again, as a new one",
    button="Retry",
)
def retry_task(ctx: ActionContext, task: RowNumber) -> ActionResult:
    """Ask for a failed task again, as a new one with the same parameters. For maintainers.

    A file or dataset that is gone is noticed by the worker, whose task then fails again and says so. Raises AuthError,
    NotFound, Conflict.
    """
    failed = operations.task(ctx, task)
    if failed.state != "failed":
        return ActionResult(False, f"Task {task} has not failed: it is {failed.state}.")
    if failed.benchmark not in ("", ctx.benchmark):
        raise Conflict(
            "other-benchmark",
            f"Task {task} is about {failed.benchmark}: ask for it there.",
        )
    for retry in ctx.retries.get(failed.kind, ()):
        if (result := retry(ctx, failed)) is not None:
            return result
    raise Conflict("unknown-task", f"This version has no tasks of the kind {failed.kind} any more.")
