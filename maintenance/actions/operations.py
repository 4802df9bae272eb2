"""Use cases of operation: failed jobs, pausing submissions, health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.database import approval_queries, queries
from maintenance.database.queries import FailedJob, WorkerStatus
from maintenance.registry import ParamInfo, RowNumber, action
from maintenance.types import ActionResult, NotFound, clean_reason, plural
from operation import figures
from operation.alarms import ServiceAlarm
from operation.build import UNKNOWN, own_commit
from storage.integrity import audit, integrity_alarms
from storage.jobs import job_queue, tasks
from storage.jobs.tasks import TaskView
from storage.labels import label_levels, label_sets
from storage.limits import submission_pause

REQUEUED = "job.requeued"
_LATELY = 50  # tasks
PAUSED, RESUMED = "submissions.paused", "submissions.resumed"
PauseMessage = Annotated[
    str, ParamInfo("Message while submissions are paused", "Back at noon.", help="why, shown to everybody")
]


@dataclass(frozen=True, slots=True)
class Health:
    """Health of the service."""

    paused: str | None  # the public message, while submissions are paused
    label_revision: str | None
    scorer_version: str | None
    jobs: dict[str, int]
    waiting_seconds: float | None  # the longest that a queued job has waited
    workers: tuple[WorkerStatus, ...]
    failures: tuple[FailedJob, ...]
    failed_tasks: tuple[TaskView, ...]  # after which nobody asked for the same
    approvals: Mapping[str, int] = field(default_factory=dict)  # benchmark -> submissions that wait for one
    integrity_checked_at: float | None = None  # when a worker last compared all of them
    measured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # label revision -> what its scores tell
    commit: str = UNKNOWN  # of the process that answers
    benchmark: str = ""
    data: tuple[str, ...] = ()  # where files are kept
    alarms: tuple[ServiceAlarm, ...] = ()


@action(
    "jobs.retry",
    "POST /api/v1/maintenance/jobs/{job}/retry",
    help="try a failed job again",
    audit=REQUEUED,
    button="Retry",
)
def requeue(ctx: ActionContext, job: RowNumber) -> ActionResult:
    """Have a failed job tried again. For maintainers. Raises NotFound."""
    with ctx.database.write() as session:
        if not queries.job_exists(session, job):
            raise NotFound(f"There is no job {job}.")
        if not job_queue.requeue(session, job):
            return ActionResult(False, f"Job {job} has not failed, or is waiting again already.")
        seq = audit.append(session, REQUEUED, data={"job": job, **ctx.author})
    return ActionResult(True, f"Job {job} waits to be tried again.", seq=seq)


@action(
    "jobs.retry_all",
    "POST /api/v1/maintenance/jobs/retry",
    help="try all failed jobs again",
    command="jobs retry-all",
    button="Retry failed jobs",
)
def requeue_all(ctx: ActionContext) -> ActionResult:
    """Have every failed job tried again, each on record; failed tasks are asked for one by one. For maintainers."""
    with ctx.database.read() as session:
        failed = queries.failed_jobs(session, ctx.benchmark, limit=10_000)
        others = len(tasks.failures(session, _LATELY))
    changed = sum(requeue(ctx, job.job_id).changed for job in failed)
    left = f" Failed tasks, which are asked for again one by one: {others}." if others else ""
    return ActionResult(
        changed > 0,
        f"{plural(changed, 'job waits', many='jobs wait')} to be tried again.{left}",
    )


@action(
    "service.pause",
    "PUT /api/v1/maintenance/pause",
    help="take no submissions",
    command="pause",
    audit=PAUSED,
    title="Submissions paused",
    public="Submissions are paused: {message}",
    button="Pause submissions",
)
def pause(ctx: ActionContext, message: PauseMessage) -> ActionResult:
    """Stop accepting submissions, with the message to everybody. For maintainers."""
    text = clean_reason(message, "message")
    with ctx.database.write() as session:
        if not submission_pause.pause(session, text):
            return ActionResult(False, "Submissions are paused already.")
        seq = audit.append(session, PAUSED, data={"message": text, **ctx.author})
    return ActionResult(True, "Submissions are paused.", seq=seq)


@action(
    "service.resume",
    "DELETE /api/v1/maintenance/pause",
    help="accept submissions again",
    command="resume",
    audit=RESUMED,
    title="Submissions resumed",
    public="Submissions are open again.",
    button="Resume",
)
def resume(ctx: ActionContext) -> ActionResult:
    """Accept submissions again. For maintainers."""
    with ctx.database.write() as session:
        if not submission_pause.resume(session):
            return ActionResult(False, "Submissions are not paused.")
        seq = audit.append(session, RESUMED, data={**ctx.author})
    return ActionResult(True, "Submissions are open again.", seq=seq)


@action(
    "service.health",
    "GET /api/v1/maintenance/health",
    help="queue, workers, failures, alarms",
    command="health",
    view=views.health,
)
def health(ctx: ActionContext) -> Health:
    """Return queue, workers, failures with their reason, alarms. For maintainers."""
    with ctx.database.read() as session:
        board = label_sets.current(session, ctx.benchmark)
        counted = figures.gather(session)
        return Health(
            paused=submission_pause.pause_message(session),
            label_revision=board.label_revision if board else None,
            scorer_version=board.scorer_version if board else None,
            jobs=counted.jobs,
            waiting_seconds=counted.oldest_job_age,
            workers=tuple(queries.workers(session)),
            failures=tuple(queries.failed_jobs(session, ctx.benchmark)),
            failed_tasks=tuple(tasks.failures(session, _LATELY)),
            approvals=approval_queries.numbers_waiting(session),
            integrity_checked_at=integrity_alarms.checked_at(session),
            measured=label_levels.measured(session, ctx.benchmark),
            commit=own_commit(),
            benchmark=ctx.benchmark,
            data=tuple(map(str, ctx.paths)),
            alarms=tuple(ctx.alarms(session)),
        )


@action("tasks.show", "GET /api/v1/maintenance/tasks/{task}", help="how far a task is", view=views.task)
def task(ctx: ActionContext, task: RowNumber) -> TaskView:
    """Return how far a worker is with something. For maintainers. Raises NotFound."""
    with ctx.database.read() as session:
        result = tasks.view(session, task)
    if result is None:
        raise NotFound(f"There is no task {task}.")
    return result


@action("tasks.list", "GET /api/v1/maintenance/tasks", help="what workers were asked", view=views.tasks)
def recent_tasks(ctx: ActionContext) -> list[TaskView]:
    """Return what workers were asked lately, the newest first. For maintainers."""
    with ctx.database.read() as session:
        return tasks.latest(session, _LATELY)
