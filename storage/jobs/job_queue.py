"""Jobs of the queue: submissions to be scored. leases.py changes their state, and holds what is promised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    delete,
    exists,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from storage.clock import database_now, read_clock
from storage.database import change_rows
from storage.jobs import leases
from storage.jobs.leases import Lease
from storage.models.core import BoardState, RegisteredLabelSet, Submission, WorkerHeartbeat
from storage.models.queue import Job, QueueRow, State
from storage.visibility import LET_THROUGH
from vlrb.common.messages import _

URGENT, BACKFILL = 0, 1
QUEUED, SCORING, SCORED, FAILED = "queued", "scoring", "scored", "failed"
"""Progress of a submission, in the words that its owner sees."""
_MEASURED_JOBS = 50
_LIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class JobProgress:
    """`position` counts from 1 and is None unless queued; `eta_seconds` is None where nothing was measured yet."""

    state: str  # QUEUED, SCORING, SCORED or FAILED
    position: int | None
    eta_seconds: float | None
    reason: str


_STAGES = {"queued": QUEUED, "running": SCORING, "done": SCORED, "failed": FAILED}


def enqueue(
    session: Session, submission_id: str, *, label_revision: str, scorer_version: str, priority: int = URGENT
) -> None:
    """Add one job. Raises IntegrityError if it exists already, or if submission or label set is unknown."""
    found = select(Submission.benchmark).where(Submission.id == submission_id)
    benchmark = session.execute(found).scalar_one_or_none() or ""
    about = {"submission_id": submission_id, "label_revision": label_revision, "scorer_version": scorer_version}
    session.execute(insert(Job), [{"benchmark": benchmark, **about, "priority": priority}])


def enqueue_current(session: Session, submission_id: str) -> bool:
    """Add the job that the board needs. False where no worker has yet said what that is: it will add the job then."""
    board = session.execute(
        select(BoardState.label_revision, BoardState.scorer_version)
        .join(Submission, Submission.benchmark == BoardState.benchmark)
        .where(Submission.id == submission_id)
    ).first()
    if board is None:
        return False
    enqueue(session, submission_id, label_revision=board.label_revision, scorer_version=board.scorer_version)
    return True


def enqueue_missing(
    session: Session, benchmark: str, *, label_revision: str, scorer_version: str, priority: int = BACKFILL
) -> int:
    """Add a job for every submission of a benchmark that has none yet and may be scored; return how many."""
    _one_at_a_time(session, benchmark, label_revision=label_revision)
    missing = _without_job(benchmark, label_revision, scorer_version=scorer_version)
    about = {"label_revision": label_revision, "scorer_version": scorer_version, "priority": priority}
    return len(session.scalars(_insert_jobs(session, missing, **about).returning(Job.id)).all())


def _one_at_a_time(session: Session, benchmark: str, *, label_revision: str) -> None:
    """Anyone who adds jobs for all submissions waits for the one who does just that; claims and finishes do not
    wait."""
    # key_share: rows that refer to the label set may still be added meanwhile.
    lock = (
        select(RegisteredLabelSet.revision)
        .where(RegisteredLabelSet.benchmark == benchmark, RegisteredLabelSet.revision == label_revision)
        .with_for_update(key_share=True)
    )
    session.execute(lock)


def drop_waiting(session: Session, benchmark: str, *, scorer_version: str, but: str) -> None:
    """Remove the jobs that wait for a scorer version which the board shows no more. ``but``: the one that it shows."""
    if scorer_version != but:
        waiting = (Job.benchmark == benchmark, Job.scorer_version == scorer_version, Job.state == State.QUEUED.value)
        change_rows(session, delete(Job).where(*waiting))


def has_missing(session: Session, benchmark: str, *, label_revision: str, scorer_version: str) -> bool:
    """Return whether enqueue_missing would add something; for a look without a write transaction."""
    return (
        session.scalars(_without_job(benchmark, label_revision, scorer_version=scorer_version).limit(1)).first()
        is not None
    )


def _without_job(benchmark: str, label_revision: str, *, scorer_version: str) -> Select[str]:
    has_job = exists().where(
        Job.submission_id == Submission.id,
        Job.label_revision == label_revision,
        Job.scorer_version == scorer_version,
    )
    return (
        select(Submission.id)
        .where(Submission.benchmark == benchmark, ~has_job, LET_THROUGH)
        .order_by(Submission.created_at, Submission.id)
    )


def claim(
    session: Session,
    worker: str,
    *,
    lease_seconds: float,
    revisions: Mapping[str, Sequence[str]] | None = None,
    scorer_version: str | None = None,
) -> Job | None:
    """Take the first waiting job, or None where there is none.

    `revisions`: only of these label revisions of each benchmark; `scorer_version`: only of this one.
    """
    waiting = select(Job).where(Job.state == State.QUEUED.value)
    if revisions is not None:
        waiting = waiting.where(of_revisions(revisions))
    if scorer_version is not None:
        waiting = waiting.where(Job.scorer_version == scorer_version)
    return leases.claim(session, waiting.order_by(Job.priority, Job.id), lease=Lease(worker, lease_seconds))


def of_revisions(revisions: Mapping[str, Sequence[str]]) -> ColumnElement[bool]:
    """Return the condition that a job is of one of these label revisions of a benchmark."""
    return or_(
        false(),
        *(and_(Job.benchmark == name, Job.label_revision.in_(under)) for name, under in revisions.items()),
    )


def requeue(session: Session, job_id: int) -> bool:
    """Put a failed job back with all its attempts; False where it is not (or no longer) failed."""
    failed = update(Job).where(Job.id == job_id, Job.state == State.FAILED.value)
    again = {"state": State.QUEUED.value, "attempts": 0, "finished_at": None, "outcome": "", "priority": URGENT}
    return change_rows(session, failed.values(**again))


def mark_done_in_bulk(
    session: Session, benchmark: str, *, submission_ids: Sequence[str], label_revision: str, scorer_version: str
) -> None:
    """Mark jobs done whose scores the caller records in bulk in this transaction; missing jobs are added as done.

    A worker that runs one of them loses its lease (the epoch grows), so it cannot record the score a second time.
    """
    _one_at_a_time(session, benchmark, label_revision=label_revision)
    now, done = read_clock(session), State.DONE.value
    about = {"label_revision": label_revision, "scorer_version": scorer_version, "priority": BACKFILL}
    chosen = select(Submission.id).where(Submission.id.in_(submission_ids))
    jobs = _insert_jobs(session, chosen, **about, state=done, created_at=now, finished_at=now)
    ended = {"state": done, "finished_at": now, "epoch": Job.epoch + 1, "lease_until": None, "outcome": ""}
    key = ["submission_id", "label_revision", "scorer_version"]
    session.execute(jobs.on_conflict_do_update(index_elements=key, set_=ended, where=Job.state != done))


def _insert_jobs(session: Session, submissions: Select[str], **values: Any) -> Any:
    """Return the statement that adds a job for each submission of a query, with the same values."""
    columns = {"queue": Job.__mapper_args__["polymorphic_identity"], **values}
    rows = submissions.add_columns(Submission.benchmark, *(literal(value) for value in columns.values()))
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    return dialect.insert(QueueRow.__table__).from_select(["submission_id", "benchmark", *columns], rows)


def progress(session: Session, submission_id: str) -> JobProgress:
    """Return how far a submission is under the board's label revision. Raises LookupError for an unknown submission."""
    if session.get(Submission, submission_id) is None:
        raise LookupError(submission_id)
    job = _current_job(session, submission_id)
    if job is None:  # the worker adds it within seconds
        return JobProgress(QUEUED, None, eta_seconds=None, reason="")
    stage = _STAGES[job.state]
    reason = _(job.outcome) if stage == FAILED else ""  # one of the program's own sentences
    if stage != QUEUED:
        return JobProgress(stage, None, eta_seconds=None, reason=reason)
    earlier = (Job.priority < job.priority) | ((Job.priority == job.priority) & (Job.id < job.id))
    waiting = select(func.count(Job.id)).where(Job.state == State.QUEUED.value, earlier)
    ahead = session.execute(waiting).scalar_one()
    return JobProgress(stage, ahead + 1, eta_seconds=_eta(session, ahead + 1), reason=reason)


def _current_job(session: Session, submission_id: str) -> Row[int, str, str, int] | None:
    same = (BoardState.benchmark == Job.benchmark) & (BoardState.label_revision == Job.label_revision)
    return session.execute(
        select(Job.id, Job.state, Job.outcome, Job.priority)
        .join(BoardState, same & (BoardState.scorer_version == Job.scorer_version))
        .where(Job.submission_id == submission_id)
    ).first()


def _eta(session: Session, jobs: int) -> float | None:
    """Return seconds until so many jobs are done: median duration of the last ones, shared among the workers alive.

    The median, since one job that was taken over after a crash, or the first one after a start, takes far longer.
    """
    recent = session.execute(
        select(Job.finished_at - Job.started_at)
        .where(Job.state == State.DONE.value, Job.started_at.is_not(None))
        .order_by(Job.id.desc())
        .limit(_MEASURED_JOBS)
    ).scalars()
    durations = [float(seconds) for seconds in recent if seconds is not None]
    if not durations:
        return None
    running = session.execute(select(func.count(Job.id)).where(Job.state == State.RUNNING.value))
    alive = WorkerHeartbeat.heartbeat_at > database_now() - literal(_LIVE_SECONDS)
    live = session.execute(select(func.count(WorkerHeartbeat.name)).where(alive))
    return median(durations) * (jobs + running.scalar_one()) / max(1, live.scalar_one())
