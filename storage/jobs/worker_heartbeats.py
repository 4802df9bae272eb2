"""Worker heartbeats: live workers and the label revisions they have loaded."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now, read_clock
from storage.database import change_rows
from storage.models.core import WorkerHeartbeat

FORGET_SECONDS = 3600.0
LIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LastHeartbeat:
    """The worker that showed itself last: seconds since then, and the instant (seconds since 1970, UTC)."""

    name: str
    seconds_ago: float
    heartbeat_at: float


def record_heartbeat(session: Session, worker: str, *, scorer_version: str = "") -> None:
    """Say that the worker is alive now, and by which rules it counts; forgets those that were silent for an hour."""
    now = read_clock(session)
    ours = update(WorkerHeartbeat).where(WorkerHeartbeat.name == worker)
    if not change_rows(session, ours.values(heartbeat_at=now, scorer_version=scorer_version)):
        session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.heartbeat_at < now - FORGET_SECONDS))
        row = {"name": worker, "started_at": now, "heartbeat_at": now, "scorer_version": scorer_version}
        session.execute(insert(WorkerHeartbeat).values(**row))


def set_loaded_revisions(session: Session, worker: str, *, revisions: Mapping[str, Iterable[str]]) -> None:
    """Say which label revisions of each benchmark a worker that has shown itself holds: exactly these."""
    held = {benchmark: sorted(set(names)) for benchmark, names in revisions.items()}
    change_rows(session, update(WorkerHeartbeat).where(WorkerHeartbeat.name == worker).values(label_revisions=held))


def add_loaded_revision(session: Session, worker: str, *, benchmark: str, revision: str) -> None:
    """Say it of a revision that has just come, so that nobody has to wait for the next heartbeat."""
    known = session.execute(
        select(WorkerHeartbeat.label_revisions)
        .where(WorkerHeartbeat.name == worker, WorkerHeartbeat.label_revisions.is_not(None))
        .with_for_update()
    ).scalar_one_or_none()
    if known is not None:
        set_loaded_revisions(session, worker, revisions={**known, benchmark: (*known.get(benchmark, ()), revision)})


def workers_holding(session: Session, benchmark: str, *, revision: str) -> dict[str, bool]:
    """Return for each running worker that says what it holds, by name, whether it holds the labels of a revision."""
    alive = select(WorkerHeartbeat.name, WorkerHeartbeat.label_revisions).where(
        WorkerHeartbeat.heartbeat_at > database_now() - LIVE_SECONDS, WorkerHeartbeat.label_revisions.is_not(None)
    )
    rows = session.execute(alive.order_by(WorkerHeartbeat.name)).all()
    return {name: revision in (loaded or {}).get(benchmark, ()) for name, loaded in rows}


def no_worker_has(session: Session, benchmark: str, *, revision: str) -> bool:
    """Return whether workers run that say what they hold, and none of them holds the labels of this revision."""
    holding = workers_holding(session, benchmark, revision=revision)
    return bool(holding) and not any(holding.values())


def remove(session: Session, worker: str) -> None:
    """Take a worker that stops in order off the list, so that it is not counted as alive."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.name == worker))


def last_seen(session: Session) -> LastHeartbeat | None:
    """Return the liveliest worker; None where there was never one, or all have stopped in order."""
    row = session.execute(
        select(WorkerHeartbeat.name, database_now() - WorkerHeartbeat.heartbeat_at, WorkerHeartbeat.heartbeat_at)
        .order_by(WorkerHeartbeat.heartbeat_at.desc())
        .limit(1)
    ).first()
    return None if row is None else LastHeartbeat(*row)


def scorer_versions(session: Session) -> tuple[str, ...]:
    """Return the scorer versions of the workers that were seen in the last minute."""
    alive = select(WorkerHeartbeat.scorer_version).where(
        WorkerHeartbeat.heartbeat_at > database_now() - LIVE_SECONDS, WorkerHeartbeat.scorer_version != ""
    )
    return tuple(sorted(set(session.scalars(alive))))
