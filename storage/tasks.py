"""Task queue of maintainers' requests: the only code that changes a task's state. Same lease fence as job_queue.

queued --claim--> running --finish--> done
  ^                  |---fail-------> failed
  '---lease expired, given back--'    failed after MAX_ATTEMPTS

A task may be split into pieces, which are in the same queue and have the same life cycle: any worker may do them. The
worker that holds the task ends it when no subtask is open. Pieces are nobody's request, so lists leave them out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session, aliased

from storage import audit
from storage.clock import database_now
from storage.job_queue import LeaseLost
from storage.models.core import State
from storage.models.moderation import Task

ONE_AT_A_TIME = "rescore.apply"  # of this kind only one may be open, whatever its subject
MAX_ATTEMPTS = 5
FAILED_SECONDS = 7 * 86_400.0  # for which a failed task is among the failures
REQUESTED, FAILED = "task.requested", "task.failed"
GAVE_UP = f"A worker was interrupted {MAX_ATTEMPTS} times while doing this. Look at the workers' logs, then ask again"
_GOES_ON = ": it goes on where it stopped."  # of a change of the board: scores that are staged stay
_OPEN = (State.QUEUED.value, State.RUNNING.value)


class TaskConflict(Exception):
    """Another task must end first; `task_id` names it."""

    def __init__(self, task_id: int, words: str) -> None:
        super().__init__(words)
        self.task_id = task_id


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Request of a maintainer. `subject`: a label revision of the benchmark; `benchmark` "": about none.

    `scorer_version`: that of the workers that may do it; None is any.
    """

    kind: str
    subject: str
    params: Mapping[str, Any]
    reason: str
    requested_by: str
    benchmark: str = ""
    scorer_version: str | None = None


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """A task that a worker holds until its lease ends. `epoch` is what the fence compares."""

    task_id: int
    epoch: int
    benchmark: str
    kind: str
    subject: str
    params: dict[str, Any]
    reason: str
    requested_by: str
    attempts: int
    scorer_version: str | None
    worker: str


@dataclass(frozen=True, slots=True)
class SubtaskCounts:
    """Progress of a task's pieces, in entries; `open` and `failed` count pieces."""

    done: int
    total: int
    open: int
    failed: int


class WaitingSubtask(NamedTuple):
    """A task some of whose pieces wait."""

    task_id: int
    subject: str


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as maintainers see it. Instants are seconds since 1970, UTC."""

    id: int
    benchmark: str
    kind: str
    subject: str
    params: dict[str, Any]
    reason: str
    requested_by: str
    state: str
    outcome: str
    progress: int
    total: int | None
    worker: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.state not in _OPEN


def request(session: Session, wanted: TaskRequest) -> tuple[int, bool]:
    """Return the open task of this kind and subject, made if there is none: its id, and whether it is new.

    Raises:
        TaskConflict: one with other parameters is open, or another change of the benchmark's board.
    """
    audit.acquire_chain_lock(session)  # so that two requests at the same moment find one another
    kind, subject = wanted.kind, wanted.subject
    alike = select(Task.id, Task.subject, Task.params).where(
        Task.benchmark == wanted.benchmark, Task.kind == kind, Task.state.in_(_OPEN)
    )
    found = session.execute(alike if kind == ONE_AT_A_TIME else alike.where(Task.subject == subject)).first()
    if found is not None:
        if (found.subject, found.params) == (subject, dict(wanted.params)):
            return found.id, False
        raise TaskConflict(found.id, f"Task {found.id} ({kind} {found.subject}) must end first.")
    values = {item.name: getattr(wanted, item.name) for item in fields(wanted)}
    row = insert(Task).values(**{**values, "params": dict(wanted.params)})
    task_id = session.execute(row.returning(Task.id)).scalar_one()
    facts = {"task": task_id, "kind": kind, "subject": subject, "reason": wanted.reason, "by": wanted.requested_by}
    audit.append(session, REQUESTED, facts | _scope(session, wanted.benchmark))
    return task_id, True


def _scope(session: Session, benchmark: str) -> dict[str, str]:
    return audit.scope(session, benchmark) if benchmark else {}


def open_about(session: Session, benchmark: str, subject: str, *, other_than: str) -> int | None:
    """Return the number of an open task about something, but for tasks of one kind; None where there is none."""
    wanted = select(Task.id).where(Task.benchmark == benchmark, Task.subject == subject)
    wanted = wanted.where(Task.kind != other_than, Task.state.in_(_OPEN))
    return session.execute(wanted.order_by(Task.id).limit(1)).scalar_one_or_none()


def claim(
    session: Session,
    worker: str,
    lease_seconds: float,
    *,
    benchmark: str | None = None,
    scorer_version: str | None = None,
    parent: int | None = None,
) -> TaskClaim | None:
    """Take the first waiting task (of one that is split: its first waiting piece), or None where there is none.

    `benchmark`: only of this one, or of none.
    """
    first = select(Task.id).where(*_waiting(benchmark, scorer_version, parent)).order_by(Task.id).limit(1)
    taken = session.execute(
        update(Task)
        .where(Task.id == first.with_for_update(skip_locked=True).scalar_subquery())
        .values(
            state=State.RUNNING.value,
            epoch=Task.epoch + 1,
            attempts=Task.attempts + 1,
            worker=worker,
            lease_until=database_now() + lease_seconds,
            started_at=database_now(),
            progress=0,
        )
        .returning(
            Task.id.label("task_id"),
            Task.epoch,
            Task.benchmark,
            Task.kind,
            Task.subject,
            Task.params,
            Task.reason,
            Task.requested_by,
            Task.attempts,
            Task.scorer_version,
            Task.worker,
        ),
        execution_options={"synchronize_session": False},
    ).first()
    return None if taken is None else TaskClaim(**taken._mapping)


def any_waiting(session: Session, benchmark: str | None = None, scorer_version: str | None = None) -> bool:
    """Return whether claim would find a task; for a look without a write transaction."""
    return (
        session.scalars(select(Task.id).where(*_waiting(benchmark, scorer_version, None)).limit(1)).first() is not None
    )


def create_subtasks(
    session: Session, claim: TaskClaim, kind: str, parts: Sequence[tuple[Mapping[str, Any], int]]
) -> None:
    """Add pieces of a task: what each is to do, and how many entries that are. Raises LeaseLost."""
    if not _change(session, claim, total=sum(size for _, size in parts)):
        raise LeaseLost(f"task {claim.task_id}, epoch {claim.epoch}")
    first = session.execute(select(func.count()).where(Task.parent_id == claim.task_id)).scalar_one()
    same: dict[str, Any] = {
        "benchmark": claim.benchmark,
        "kind": kind,
        "reason": "",
        "requested_by": claim.requested_by,
    }
    same["scorer_version"] = claim.scorer_version
    rows = [
        {
            **same,
            "parent_id": claim.task_id,
            "subject": f"{claim.task_id}:{first + n}",
            "params": dict(part),
            "total": size,
        }
        for n, (part, size) in enumerate(parts)
    ]
    if rows:
        session.execute(insert(Task), rows)


def subtask_params(session: Session, task_id: int) -> list[dict[str, Any]]:
    """Return what each piece of a task was to do."""
    return list(session.scalars(select(Task.params).where(Task.parent_id == task_id).order_by(Task.id)))


def subtask_counts(session: Session, task_id: int) -> SubtaskCounts:
    """Return how far the pieces of a task are."""
    rows = session.execute(
        select(Task.state, func.count(), func.coalesce(func.sum(Task.total), 0))
        .where(Task.parent_id == task_id)
        .group_by(Task.state)
    )
    found = {state: (number, int(entries or 0)) for state, number, entries in rows}
    number = {state: found.get(state.value, (0, 0)) for state in State}
    return SubtaskCounts(
        done=number[State.DONE][1],
        total=sum(entries for _, entries in number.values()),
        open=number[State.QUEUED][0] + number[State.RUNNING][0],
        failed=number[State.FAILED][0],
    )


def waiting_subtasks(session: Session, benchmark: str, scorer_version: str) -> list[WaitingSubtask]:
    """Return the tasks with pieces that a worker of this version could do."""
    rows = session.execute(
        select(Task.id, Task.subject)
        .where(
            Task.state == State.RUNNING.value,
            Task.benchmark == benchmark,
            Task.scorer_version == scorer_version,
            Task.id.in_(select(Task.parent_id).where(Task.state == State.QUEUED.value, Task.parent_id.is_not(None))),
        )
        .order_by(Task.id)
    )
    return [WaitingSubtask(*row) for row in rows]


def heartbeat(session: Session, claim: TaskClaim, lease_seconds: float) -> bool:
    """Make the lease last from now; False if it was lost."""
    return _change(session, claim, lease_until=database_now() + lease_seconds)


def report(session: Session, claim: TaskClaim, progress: int, total: int) -> None:
    """Record the number of finished entries. Raises LeaseLost."""
    if not _change(session, claim, progress=progress, total=total):
        raise LeaseLost(f"task {claim.task_id}, epoch {claim.epoch}")


def finish(session: Session, claim: TaskClaim, result: Mapping[str, Any], outcome: str) -> None:
    """Mark the task done, in the transaction that has its effect. Raises LeaseLost: then nothing may be recorded."""
    text = json.dumps(result, separators=(",", ":"), allow_nan=False)
    values = {"state": State.DONE.value, "result": text, "outcome": outcome}
    if not _change(session, claim, lease_until=None, finished_at=database_now(), **values):
        raise LeaseLost(f"task {claim.task_id}, epoch {claim.epoch}")


def fail(session: Session, claim: TaskClaim, words: str, *, retry: bool) -> None:
    """End an attempt that did not work: waiting again, or failed for good. Raises LeaseLost."""
    if retry and claim.attempts < MAX_ATTEMPTS:
        changed = _change(session, claim, state=State.QUEUED.value, lease_until=None, outcome=words)
    else:
        values = {"state": State.FAILED.value, "outcome": words}
        changed = _change(session, claim, lease_until=None, finished_at=database_now(), **values)
        if changed:
            _drop_pieces(session, [claim.task_id])
            _record_failure(session, claim.task_id, claim.benchmark, claim.kind, claim.subject)
    if not changed:
        raise LeaseLost(f"task {claim.task_id}, epoch {claim.epoch}")


def any_expired(session: Session) -> bool:
    """Return whether release_expired would do something; for a look without a write transaction."""
    return session.scalars(select(Task.id).where(*_late()).limit(1)).first() is not None


def release_expired(session: Session) -> int:
    """Put tasks back whose lease is over (or fails them after MAX_ATTEMPTS); returns how many."""
    late = select(Task.id, Task.attempts, Task.benchmark, Task.kind, Task.subject).where(*_late()).order_by(Task.id)
    rows = session.execute(late.with_for_update(skip_locked=True)).all()
    for row in rows:
        values: dict[str, Any] = {"state": State.QUEUED.value}
        if row.attempts >= MAX_ATTEMPTS:
            words = GAVE_UP + (_GOES_ON if row.kind == ONE_AT_A_TIME else ".")
            values = {"state": State.FAILED.value, "finished_at": database_now(), "outcome": words}
        session.execute(update(Task).where(Task.id == row.id).values(lease_until=None, **values))
    given_up = [row for row in rows if row.attempts >= MAX_ATTEMPTS]
    if given_up:
        _drop_pieces(session, [row.id for row in given_up])
    for row in given_up:  # the audit chain's lock comes last
        _record_failure(session, row.id, row.benchmark, row.kind, row.subject)
    return len(rows)


def view(session: Session, task_id: int) -> TaskView | None:
    """Return one task."""
    row = session.execute(select(*_SHOWN).where(Task.id == task_id)).first()
    return None if row is None else TaskView(**row._mapping)


def result(session: Session, task_id: int) -> dict[str, Any] | None:
    """Return what a task that is done has found out; None for any other."""
    text = session.execute(select(Task.result).where(Task.id == task_id)).scalar_one_or_none()
    return None if text is None else dict(json.loads(text))


def latest(session: Session, limit: int, *, kind: str | None = None, benchmark: str | None = None) -> list[TaskView]:
    """Return the newest tasks first; of one kind and benchmark, if given."""
    wanted = select(*_SHOWN).where(Task.parent_id.is_(None)).order_by(Task.id.desc()).limit(limit)
    if kind is not None:
        wanted = wanted.where(Task.kind == kind)
    if benchmark is not None:
        wanted = wanted.where(Task.benchmark == benchmark)
    return [TaskView(**row._mapping) for row in session.execute(wanted)]


def failures(session: Session, limit: int) -> list[TaskView]:
    """Return tasks that failed lately, the newest first, but for those after which one of the same kind and subject
    was asked for: what nobody asks for again is gone from the list after FAILED_SECONDS."""
    later = aliased(Task)
    same = (later.benchmark == Task.benchmark, later.kind == Task.kind, later.subject == Task.subject)
    again = select(later.id).where(*same, later.id > Task.id).exists()
    lately = Task.finished_at > database_now() - FAILED_SECONDS
    failed = (Task.parent_id.is_(None), Task.state == State.FAILED.value, lately, ~again)
    rows = session.execute(select(*_SHOWN).where(*failed).order_by(Task.id.desc()).limit(limit))
    return [TaskView(**row._mapping) for row in rows]


_SHOWN = (
    Task.id,
    Task.benchmark,
    Task.kind,
    Task.subject,
    Task.params,
    Task.reason,
    Task.requested_by,
    Task.state,
    Task.outcome,
    Task.progress,
    Task.total,
    Task.worker,
    Task.created_at,
    Task.started_at,
    Task.finished_at,
)


def _waiting(benchmark: str | None, scorer_version: str | None, parent: int | None) -> tuple[ColumnElement[bool], ...]:
    able = Task.scorer_version.is_(None) | (Task.scorer_version == scorer_version)
    of = Task.parent_id.is_(None) if parent is None else Task.parent_id == parent
    here = () if benchmark is None else (Task.benchmark.in_((benchmark, "")),)
    return (Task.state == State.QUEUED.value, of, *here, *(() if scorer_version is None else (able,)))


def _drop_pieces(session: Session, task_ids: Sequence[int]) -> None:
    """Pieces end with their task. Who works on one has lost its lease by that, so none can come back to the queue."""
    session.execute(delete(Task).where(Task.parent_id.in_(task_ids), Task.state.in_(_OPEN)))


def _late() -> tuple[ColumnElement[bool], ...]:
    return (Task.state == State.RUNNING.value, Task.lease_until < database_now())


def _change(session: Session, claim: TaskClaim, **values: Any) -> bool:
    """Change a running task if the claim still holds it (the fence); return False if it does not."""
    result = session.execute(
        update(Task)
        .where(Task.id == claim.task_id, Task.epoch == claim.epoch, Task.state == State.RUNNING.value)
        .values(**values)
        .returning(Task.id),
        execution_options={"synchronize_session": False},
    )
    return result.first() is not None


def _record_failure(session: Session, task_id: int, benchmark: str, kind: str, subject: str) -> None:
    audit.append(session, FAILED, {"task": task_id, "kind": kind, "subject": subject} | _scope(session, benchmark))
