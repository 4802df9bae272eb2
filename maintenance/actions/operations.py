"""Use cases of operation: failed jobs, pausing submissions, health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from maintenance.action_context import ActionContext
from maintenance.actions.tasks import LATELY, table_of
from maintenance.database import approval_queries, queries
from maintenance.database.queries import FailedJob, WorkerStatus
from maintenance.previews import board_words
from maintenance.registry import ParamInfo, RowNumber, action
from maintenance.types import ActionResult, NotFound, clean_reason, plural
from maintenance.view import NOTHING, Row, Table, View
from operation import figures
from operation.alarms import ServiceAlarm
from operation.build import UNKNOWN, own_commit
from storage.clock import minute
from storage.integrity import audit, integrity_alarms
from storage.jobs import job_queue, tasks
from storage.jobs.tasks import TaskView
from storage.labels import label_levels, label_sets
from storage.limits import submission_pause
from vlrb.disclosure import measured_sentence

REQUEUED = "job.requeued"
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


@action("jobs.retry", "POST /api/v1/maintenance/jobs/{job}/retry", audit=REQUEUED, button="Retry")
def requeue(ctx: ActionContext, job: RowNumber) -> ActionResult:
    """Have a failed job tried again. For maintainers. Raises NotFound."""
    with ctx.database.write() as session:
        if not queries.job_exists(session, job):
            raise NotFound(f"There is no job {job}.")
        if not job_queue.requeue(session, job):
            return ActionResult(False, f"Job {job} has not failed, or is waiting again already.")
        seq = audit.append(session, REQUEUED, data={"job": job, **ctx.author})
    return ActionResult(True, f"Job {job} waits to be tried again.", seq=seq)


@action("jobs.retry_all", "POST /api/v1/maintenance/jobs/retry", command="jobs retry-all", button="Retry failed jobs")
def requeue_all(ctx: ActionContext) -> ActionResult:
    """Have every failed job tried again, each on record; failed tasks are asked for one by one. For maintainers."""
    with ctx.database.read() as session:
        failed = queries.failed_jobs(session, ctx.benchmark, limit=10_000)
        others = len(tasks.failures(session, LATELY))
    changed = sum(requeue(ctx, job.job_id).changed for job in failed)
    left = f" Failed tasks, which are asked for again one by one: {others}." if others else ""
    return ActionResult(changed > 0, f"{plural(changed, 'job waits', many='jobs wait')} to be tried again.{left}")


@action(
    "service.pause",
    "PUT /api/v1/maintenance/pause",
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


def _shown(result: Health) -> View:
    workers = [Row((worker.name, minute(worker.started_at), _last_sign(worker))) for worker in result.workers]
    head = ("Job", "Entry", "Model", "Labels", "Reason")
    failed = [_failed_row(job) for job in result.failures]
    tables = (
        Table("Workers", ("Worker", "Started", "Last heartbeat"), workers, "No worker is running."),
        Table("Failed jobs", head, failed, "No job has failed.", parameter="job"),
        table_of("Failed tasks", result.failed_tasks, nothing="No task has failed."),
    )
    alarms = [f"{alarm.sentence}" for alarm in result.alarms]
    return View(alarms=alarms, facts=[*_facts(result)], tables=tables, good=not alarms)


def _failed_row(job: FailedJob) -> Row:
    cells = (job.job_id, job.submission_id, job.model, job.label_revision, job.reason)
    return Row(cells, key=f"{job.job_id}", name=f"{job.model}, {job.label_revision}")


def _last_sign(worker: WorkerStatus) -> str:
    """Return when a worker was last seen, or since when it is missed."""
    if worker.silent_since is not None:
        return f"silent since {minute(worker.silent_since)}"
    return f"last seen {worker.seconds_ago:.0f} s ago"


def _facts(result: Health) -> Iterator[tuple[str, str]]:
    yield "Benchmark", f"{result.benchmark}, data in {', '.join(result.data)}"
    yield "Submissions", f"paused: {result.paused}" if result.paused else "open"
    values = {"label_revision": result.label_revision, "scorer_version": result.scorer_version}
    yield "The board shows", board_words(values)
    yield "Jobs", ", ".join(f"{number} {state}" for state, number in result.jobs.items() if number) or "none"
    yield "Longest wait", NOTHING if result.waiting_seconds is None else f"{result.waiting_seconds:.0f} s"
    yield "Approvals", ", ".join(f"{name} {number:,}" for name, number in result.approvals.items()) or "none waiting"
    checked = result.integrity_checked_at
    yield "Rows compared with the chain", "not yet" if checked is None else minute(checked)
    for revision, measured in result.measured.items():
        if measured:
            yield f"Hidden labels {revision}", f"{measured_sentence(measured)}"
    yield "Commit", result.commit


@action("service.health", "GET /api/v1/maintenance/health", command="health", view=_shown)
def health(ctx: ActionContext) -> Health:
    """Show queue, workers, failures with their reason, alarms. For maintainers."""
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
            failed_tasks=tuple(tasks.failures(session, LATELY)),
            approvals=approval_queries.numbers_waiting(session),
            integrity_checked_at=integrity_alarms.checked_at(session),
            measured=label_levels.measured(session, ctx.benchmark),
            commit=own_commit(),
            benchmark=ctx.benchmark,
            data=tuple(map(str, ctx.paths)),
            alarms=tuple(ctx.alarms(session)),
        )
