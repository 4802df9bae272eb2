"""Use cases about what workers were asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maintenance.action_context import ActionContext
from maintenance.registry import RowNumber, action
from maintenance.types import NotFound
from maintenance.view import Row, Table, TableCell, View
from storage.clock import minute
from storage.database import Session
from storage.jobs import tasks
from storage.jobs.tasks import TaskView
from storage.models.queue import Task

LATELY = 50  # tasks


def request_task(ctx: ActionContext, session: Session, *, kind: str, subject: str, **more: Any) -> tuple[int, bool]:
    """Return the task that does it: its number, and whether it is new. Raises TaskConflict.

    `more`: the other fields of a request, but for who asks and about which benchmark.
    """
    asked = {"params": {}, "requested_by": ctx.user.account, "benchmark": ctx.benchmark, **more}
    return tasks.request(session, Task(kind=kind, subject=subject, **asked))


def progress(view: TaskView) -> str:
    """Return how far a task is."""
    state = "waits for a worker" if view.state == "queued" else f"is {view.state}"
    done = f", {view.progress} of {view.total} entries" if view.total else ""
    return f"task {view.id} ({view.kind} {view.subject}) {state}{done}"


def table_of(title: str, views: Sequence[TaskView], *, nothing: str) -> Table:
    """Return a table of tasks."""
    head = ("Task", "What", "About", "State", "Result", "Asked", "By")
    return Table(title, head, [_row(view) for view in views], nothing, parameter="task", shows="tasks.show")


def _row(view: TaskView) -> Row:
    asked = (minute(view.created_at), TableCell(view.requested_by, account=True))
    cells = (view.id, view.kind, view.subject, view.state, view.outcome, *asked)
    return Row(cells, key=f"{view.id}", name=f"{view.kind} {view.subject}")


def _one(view: TaskView) -> View:
    ended = f"task {view.id}: {view.kind} {view.subject}: {view.state}. {view.outcome}".strip()
    return View([ended if view.ended else progress(view)], good=view.state != "failed", waits=not view.ended)


@action("tasks.show", "GET /api/v1/maintenance/tasks/{task}", view=_one)
def task(ctx: ActionContext, task: RowNumber) -> TaskView:
    """Show how far a worker is with something. For maintainers. Raises NotFound."""
    with ctx.database.read() as session:
        result = tasks.view(session, task)
    if result is None:
        raise NotFound(f"There is no task {task}.")
    return result


def _recent(views: Sequence[TaskView]) -> View:
    return View(tables=[table_of("Recent tasks", views, nothing="Nothing was asked yet.")])


@action("tasks.list", "GET /api/v1/maintenance/tasks", view=_recent)
def recent_tasks(ctx: ActionContext) -> list[TaskView]:
    """Show what workers were asked lately, the newest first. For maintainers."""
    with ctx.database.read() as session:
        return tasks.latest(session, LATELY)
