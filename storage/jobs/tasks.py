"""Tasks of the queue: maintainers' requests that workers execute. leases.py changes their state, and holds what is
promised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, aliased

from common.refused import Refused
from storage.clock import database_now
from storage.integrity import audit
from storage.jobs import leases
from storage.jobs.leases import Lease
from storage.models.queue import State, Task
from vlrb.common.messages import _


class TaskKind(StrEnum):
    """What workers know to do; workers/task_runner.py has a function for each."""

    IMPORT = "labels.import"
    RETIRE = "labels.retire"
    DRAFT = "labels.draft"
    PREVIEW = "rescore.preview"
    APPLY = Task.ONE_AT_A_TIME


FAILED_SECONDS = 7 * 86_400.0  # for which a failed task is among the failures
REQUESTED = "task.requested"
_OPEN = (State.QUEUED.value, State.RUNNING.value)


class TaskConflict(Refused):
    """Another task must end first; the message names it."""

    status, code = 409, "busy"


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


def request(session: Session, wanted: Task) -> tuple[int, bool]:
    """Return the open task of this kind and subject, made if there is none: its id, and whether it is new.

    Raises:
        TaskConflict: one with other parameters is open, or another change of the benchmark's board.
    """
    audit.acquire_chain_lock(session)  # so that two requests at the same moment find one another
    kind, subject, benchmark = wanted.kind, wanted.subject, wanted.benchmark or ""
    alike = select(Task.id, Task.subject, Task.params).where(
        Task.benchmark == benchmark, Task.kind == kind, Task.state.in_(_OPEN)
    )
    existing = session.execute(alike if kind == TaskKind.APPLY else alike.where(Task.subject == subject)).first()
    if existing is not None:
        if (existing.subject, existing.params) == (subject, wanted.params):
            return existing.id, False
        number, about = existing.id, existing.subject
        raise TaskConflict(_("Task {id} ({kind} {subject}) must end first.", id=number, kind=kind, subject=about))
    session.add(wanted)
    session.flush()
    facts = {"task": wanted.id, "kind": kind, "subject": subject, "reason": wanted.reason, "by": wanted.requested_by}
    audit.append(session, REQUESTED, data=facts | {"benchmark": benchmark})
    return wanted.id, True


def claim(
    session: Session, worker: str, *, lease_seconds: float, benchmark: str | None = None, scorer_version: str = ""
) -> Task | None:
    """Take the first task that waits for a worker of a benchmark (None: of any) and a scorer version; None where there
    is none."""
    first = waiting(benchmark, scorer_version).order_by(Task.id)
    return leases.claim(session, first, lease=Lease(worker, lease_seconds))


def waiting(benchmark: str | None, scorer_version: str) -> Select[Task]:
    """Return the tasks that such a worker could do; those of no benchmark and of no version are anybody's."""
    those = select(Task).where(Task.state == State.QUEUED.value)
    if benchmark is not None:
        those = those.where(Task.benchmark.in_((benchmark, "")))
    if scorer_version:
        those = those.where(Task.scorer_version.is_(None) | (Task.scorer_version == scorer_version))
    return those


def report(session: Session, claim: Task, *, progress: int, total: int) -> None:
    """Record the number of finished entries. Raises LeaseLost."""
    leases.write(session, claim, progress=progress, total=total)


def finish(session: Session, claim: Task, *, result: Mapping[str, Any], outcome: str) -> None:
    """Mark the task done, in the transaction that has its effect. Raises LeaseLost: then nothing may be recorded."""
    text = json.dumps(result, separators=(",", ":"), allow_nan=False)
    leases.finish(session, claim, result=text, outcome=outcome)


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
