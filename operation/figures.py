"""ServiceFigures of an installation, from its database: what /metrics, /readyz, /status and `health` say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from storage.clock import read_clock
from storage.integrity import audit
from storage.jobs import worker_heartbeats
from storage.models.core import BoardState, Snapshot, Submission, WorkerHeartbeat
from storage.models.queue import Job, State

_RECENT = 100  # jobs of which times are reported, at most
_RECENT_SECONDS = 3600.0  # for which they are: a rush that is over must not look like one that goes on
STUCK_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """Counts and ages in seconds; None where there is nothing to measure yet."""

    submissions: int
    jobs: dict[str, int]  # state -> number
    oldest_job_age: float | None
    oldest_running_age: float | None
    last_scored_age: float | None
    waiting_seconds: tuple[float, ...]  # of the last hour's jobs, sorted: from submission to score
    workers: int  # that are live
    snapshot_age: float | None

    @property
    def stuck(self) -> bool:
        """Return whether a worker shows itself, and yet nothing was scored for long."""
        waits = max(self.oldest_job_age or 0.0, self.oldest_running_age or 0.0)
        return waits > STUCK_SECONDS and (self.last_scored_age is None or self.last_scored_age > STUCK_SECONDS)


def gather(session: Session) -> ServiceFigures:
    """Return all figures of one moment."""
    now = read_clock(session)
    waiting, last = _recent(session, now)
    snapshot = session.execute(select(func.max(Snapshot.created_at))).scalar_one()
    live = select(func.count()).where(WorkerHeartbeat.heartbeat_at > now - worker_heartbeats.LIVE_SECONDS)
    return ServiceFigures(
        submissions=session.execute(select(func.count()).select_from(Submission)).scalar_one(),
        jobs=_jobs(session),
        oldest_job_age=_age(now, session.execute(_oldest_waiting(session)).scalar_one()),
        oldest_running_age=_age(now, session.execute(_oldest(Job.started_at, State.RUNNING)).scalar_one()),
        last_scored_age=_age(now, last),
        waiting_seconds=waiting,
        workers=session.execute(live).scalar_one(),
        snapshot_age=_age(now, snapshot),
    )


@dataclass(frozen=True, slots=True)
class BoardFigures:
    """Jobs of a benchmark that wait, and the ages of its board and last score in seconds; None before there is one."""

    queued: int
    snapshot_age: float | None
    last_score_age: float | None


def of_benchmark(session: Session, benchmark: str) -> BoardFigures:
    """Return the figures of one benchmark."""
    now = read_clock(session)
    waiting = select(func.count()).where(Job.state == State.QUEUED.value, Job.benchmark == benchmark)
    latest = select(func.max(Snapshot.created_at)).where(Snapshot.benchmark == benchmark)
    scored = select(Job.finished_at).where(Job.state == State.DONE.value, Job.benchmark == benchmark)
    last = session.execute(scored.order_by(Job.id.desc()).limit(1)).scalar_one_or_none()
    return BoardFigures(
        session.execute(waiting).scalar_one(), _age(now, session.execute(latest).scalar_one()), _age(now, last)
    )


def of_boards(session: Session) -> dict[str, BoardFigures]:
    """Return the figures of every benchmark's board: one that is fresh must not hide another that is not."""
    return {name: of_benchmark(session, name) for name in session.scalars(select(BoardState.benchmark)).all()}


def last_event_age(session: Session, kind: str) -> float | None:
    """Return how long ago an event of this kind was recorded; None: never."""
    result = audit.newest(session, [kind], limit=1)
    return _age(read_clock(session), result[0].at) if result else None


def _jobs(session: Session) -> dict[str, int]:
    counted = session.execute(select(Job.state, func.count()).group_by(Job.state))
    return {state.value: 0 for state in State} | {str(state): int(number) for state, number in counted}


def _oldest(column: Any, state: State) -> Select[Any]:
    return select(func.min(column)).where(Job.state == state.value)


def _oldest_waiting(session: Session) -> Select[Any]:
    """Return when the first job came that waits for a running worker, and not for a decision on scoring rules."""
    running = worker_heartbeats.scorer_versions(session)
    oldest = _oldest(Job.created_at, State.QUEUED)
    return oldest.where(Job.scorer_version.in_(running)) if running else oldest


def _recent(session: Session, now: float) -> tuple[tuple[float, ...], float | None]:
    """Return the waiting times of the last hour's jobs, and when the last job ever was done."""
    done = select(Job.created_at, Job.finished_at).where(Job.state == State.DONE.value)
    rows = session.execute(done.order_by(Job.id.desc()).limit(_RECENT)).all()
    ended_jobs = [(created, ended) for created, ended in rows if ended is not None]
    waiting = sorted(ended - created for created, ended in ended_jobs if ended > now - _RECENT_SECONDS)
    return tuple(waiting), max((ended for _, ended in ended_jobs), default=None)


def _age(now: float, at: float | None) -> float | None:
    return None if at is None else max(0.0, now - at)
