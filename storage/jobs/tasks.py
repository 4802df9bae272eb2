"""Tasks of the queue: maintainers' requests that workers execute. leases.py changes their state, and holds what is
promised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.orm import Session, aliased

from storage.clock import database_now
from storage.integrity import audit
from storage.jobs import leases
from storage.jobs.leases import MAX_ATTEMPTS, Lease
from storage.models.queue import State, Task
from vlrb.common.messages import _


class TaskKind(StrEnum):
    """What workers know to do; workers/task_handlers.py has a function for each."""

    IMPORT = "labels.import"
    RETIRE = "labels.retire"
    DRAFT = "labels.draft"
    PREVIEW = "rescore.preview"
    APPLY = "rescore.apply"


ONE_AT_A_TIME = TaskKind.APPLY.value  # of this kind only one may be open for a benchmark, whatever its subject
FAILED_SECONDS = 7 * 86_400.0  # for which a failed task is among the failures
REQUESTED, FAILED = "task.requested", "task.failed"
GAVE_UP = _(
    "A worker was interrupted {times} times while doing this. Look at the workers' logs, then ask again.",
    times=MAX_ATTEMPTS,
)
_GOES_ON = _(  # of a change of the board: scores that are staged stay
    "A worker was interrupted {times} times while doing this. Look at the workers' logs, then ask again: it goes on "
    "where it stopped.",
    times=MAX_ATTEMPTS,
)
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

    id: int
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
class TaskFilter:
    """Tasks that a worker could do: those of its benchmark or of none, and of its scorer version or of any. None: any
    task."""

    benchmark: str | None = None
    scorer_version: str | None = None


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
    existing = session.execute(alike if kind == ONE_AT_A_TIME else alike.where(Task.subject == subject)).first()
    if existing is not None:
        if (existing.subject, existing.params) == (subject, dict(wanted.params)):
            return existing.id, False
        raise TaskConflict(
            existing.id,
            _("Task {id} ({kind} {subject}) must end first.", id=existing.id, kind=kind, subject=existing.subject),
        )
    values = {item.name: getattr(wanted, item.name) for item in fields(wanted)}
    row = {**values, "params": dict(wanted.params)}
    task_id = session.execute(insert(Task).returning(Task.id), [row]).scalar_one()
    facts = {"task": task_id, "kind": kind, "subject": subject, "reason": wanted.reason, "by": wanted.requested_by}
    audit.append(session, REQUESTED, data=facts | {"benchmark": wanted.benchmark})
    return task_id, True


def claim(
    session: Session, worker: str, *, lease_seconds: float, wanted: TaskFilter = TaskFilter()
) -> TaskClaim | None:
    """Take the first waiting task; None where there is none."""
    first = select(Task.id).where(*_waiting(wanted)).order_by(Task.id)
    taken = leases.claim(session, first, lease=Lease(worker, lease_seconds), columns=_CLAIMED)
    return None if taken is None else TaskClaim(*taken)


def any_waiting(session: Session, wanted: TaskFilter = TaskFilter()) -> bool:
    """Return whether claim would find a task; for a look without a write transaction."""
    return session.scalars(select(Task.id).where(*_waiting(wanted)).limit(1)).first() is not None


def report(session: Session, claim: TaskClaim, *, progress: int, total: int) -> None:
    """Record the number of finished entries. Raises LeaseLost."""
    leases.write(session, claim, progress=progress, total=total)


def finish(session: Session, claim: TaskClaim, *, result: Mapping[str, Any], outcome: str) -> None:
    """Mark the task done, in the transaction that has its effect. Raises LeaseLost: then nothing may be recorded."""
    text = json.dumps(result, separators=(",", ":"), allow_nan=False)
    leases.finish(session, claim, result=text, outcome=outcome)


def fail(session: Session, claim: TaskClaim, *, words: str, retry: bool) -> None:
    """End an attempt that did not work: waiting again, or failed for good. Raises LeaseLost."""
    if leases.fail(session, claim, outcome=words, retry=retry) is State.FAILED:
        record_failure(session, claim)


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
    wanted = select(*_SHOWN).order_by(Task.id.desc()).limit(limit)
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
    failed = (Task.state == State.FAILED.value, lately, ~again)
    rows = session.execute(select(*_SHOWN).where(*failed).order_by(Task.id.desc()).limit(limit))
    return [TaskView(**row._mapping) for row in rows]


_SHOWN = tuple(getattr(Task, item.name) for item in fields(TaskView))
_CLAIMED = tuple(getattr(Task, item.name) for item in fields(TaskClaim))


def _waiting(wanted: TaskFilter) -> tuple[ColumnElement[bool], ...]:
    rules: list[ColumnElement[bool]] = [Task.state == State.QUEUED.value]
    if wanted.benchmark is not None:
        rules.append(Task.benchmark.in_((wanted.benchmark, "")))
    if wanted.scorer_version is not None:
        rules.append(Task.scorer_version.is_(None) | (Task.scorer_version == wanted.scorer_version))
    return tuple(rules)


def gave_up(kind: str) -> str:
    """Return why a task of a kind has failed whose workers were interrupted too often."""
    return _GOES_ON if kind == ONE_AT_A_TIME else GAVE_UP


def record_failure(session: Session, task: TaskClaim | Task) -> None:
    """Record that a task has failed for good."""
    facts = {"task": task.id, "kind": task.kind, "subject": task.subject}
    audit.append(session, FAILED, data=facts | {"benchmark": task.benchmark})
