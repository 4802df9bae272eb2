"""Which workers are alive, by the heartbeat they leave, and which labels they hold."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.tables import Worker

FORGET_SECONDS = 86_400.0
LIVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """The worker that showed itself last: seconds since then, and the instant (seconds since 1970, UTC)."""

    name: str
    seconds_ago: float
    heartbeat_at: float


def beat(session: Session, worker: str, scorer_version: str = "") -> None:
    """Says that the worker is alive now, and by which rules it counts; forgets those that were silent for a day."""
    now = session.execute(select(database_now())).scalar_one()
    known = session.execute(
        update(Worker)
        .where(Worker.name == worker)
        .values(heartbeat_at=now, scorer_version=scorer_version)
        .returning(Worker.name),
        execution_options={"synchronize_session": False},
    ).first()
    if known is None:
        session.execute(delete(Worker).where(Worker.heartbeat_at < now - FORGET_SECONDS))
        row = {"name": worker, "started_at": now, "heartbeat_at": now, "scorer_version": scorer_version}
        session.execute(insert(Worker).values(**row))


def hold(session: Session, worker: str, revisions: Iterable[str]) -> None:
    """Says which label revisions a worker that has shown itself holds: exactly these."""
    session.execute(
        update(Worker).where(Worker.name == worker).values(label_revisions=sorted(set(revisions))),
        execution_options={"synchronize_session": False},
    )


def hold_one_more(session: Session, worker: str, revision: str) -> None:
    """Says it of a revision that has just come, so that nobody has to wait for the next heartbeat."""
    known = session.execute(
        select(Worker.label_revisions)
        .where(Worker.name == worker, Worker.label_revisions.is_not(None))
        .with_for_update()
    ).scalar_one_or_none()
    if known is not None:
        hold(session, worker, (*known, revision))


def nobody_holds(session: Session, revision: str) -> bool:
    """Whether workers run that say what they hold, and none of them holds the labels of this revision."""
    alive = select(Worker.label_revisions).where(
        Worker.heartbeat_at > database_now() - LIVE_SECONDS, Worker.label_revisions.is_not(None)
    )
    said = session.scalars(alive).all()
    return bool(said) and not any(revision in one for one in said if one is not None)


def leave(session: Session, worker: str) -> None:
    """Takes a worker that stops in order off the list, so that it is not counted as alive."""
    session.execute(delete(Worker).where(Worker.name == worker))


def last_seen(session: Session) -> Seen | None:
    """The liveliest worker; None where there was never one, or all have stopped in order."""
    row = session.execute(
        select(Worker.name, database_now() - Worker.heartbeat_at, Worker.heartbeat_at)
        .order_by(Worker.heartbeat_at.desc())
        .limit(1)
    ).first()
    return None if row is None else Seen(*row)


def scorer_versions(session: Session) -> tuple[str, ...]:
    """The scorer versions of the workers that were seen in the last minute."""
    alive = select(Worker.scorer_version).where(
        Worker.heartbeat_at > database_now() - LIVE_SECONDS, Worker.scorer_version != ""
    )
    return tuple(sorted(set(session.scalars(alive))))
