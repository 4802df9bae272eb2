"""Handlers of maintainers' tasks, by kind. storage/jobs/tasks.py says what a task is, jobs/ how it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from storage.jobs import tasks
from storage.jobs.tasks import TaskKind
from storage.models.queue import Task
from workers.jobs import (
    activate_revision,
    draft_labels,
    import_labels,
    preview,
)
from workers.task_context import TaskContext

TaskHandler = Callable[[TaskContext, Task], None]


def _preview(context: TaskContext, claim: Task) -> None:
    labels = context.labels(claim.subject)
    result = preview.preview(
        context.database,
        context.scorer,
        labels=labels,
        report=context.report(claim),
        rules=claim.params.get("rules"),
    )
    entries = result["summary"]["entries"]
    words = f"{entries:,} {'entry' if entries == 1 else 'entries'} compared."
    with context.database.write() as session:
        tasks.finish(session, claim, result=result, outcome=words)


def _apply(context: TaskContext, claim: Task) -> None:
    labels = context.labels(claim.subject)
    activate_revision.apply(context.database, context.scorer, labels=labels, claim=claim, chunk=context.chunk)


HANDLERS: Mapping[TaskKind, TaskHandler] = {
    TaskKind.IMPORT: import_labels.import_labels,
    TaskKind.RETIRE: import_labels.retire,
    TaskKind.DRAFT: draft_labels.draft,
    TaskKind.PREVIEW: _preview,
    TaskKind.APPLY: _apply,
}


def handle(context: TaskContext, claim: Task) -> None:
    """Run the handler of a task's kind. Raises ValueError for a kind of another release, and what the handler
    raises."""
    HANDLERS[TaskKind(claim.kind)](context, claim)
