"""Use cases of operation: failed jobs, pausing submissions, health, backups."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common.text import pluralize
from maintenance import label_availability, queries
from maintenance.actions.anomalies import Alarm, alarm
from maintenance.queries import FailedJob, WorkerStatus
from maintenance.types import ActionResult, Identity, NotFound, clean_reason, require_maintainer
from storage import (
    anomalies,
    audit,
    backups,
    integrity_alarms,
    job_queue,
    label_sets,
    submission_pause,
    tasks,
    weak_hiding,
    worker_heartbeats,
)
from storage.backups import BackupRecord
from storage.database import Database
from storage.integrity_alarms import IntegrityAlarm
from storage.models.core import Job
from storage.models.moderation import Task
from storage.tasks import TaskRequest, TaskView
from storage.weak_hiding import WeaklyHidden

REQUEUED = "job.requeued"
BACKUP = "backup"
_LATELY = 50  # tasks
_WEAK = "Disclose them, or say that this is meant (ACCEPT_WEAK_HIDING, --accept-weak-hiding)."
PAUSED, RESUMED = "submissions.paused", "submissions.resumed"


@dataclass(frozen=True, slots=True)
class Disk:
    """Room where files are kept, in bytes."""

    path: str
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Health:
    """Health of the service."""

    paused: str | None  # the public message, while submissions are paused
    label_revision: str | None
    scorer_version: str | None
    jobs: dict[str, int]
    tasks: dict[str, int]
    waiting_seconds: float | None  # the longest that a queued job has waited
    workers: tuple[WorkerStatus, ...]
    failures: tuple[FailedJob, ...]
    failed_tasks: tuple[TaskView, ...]  # after which nobody asked for the same
    disks: tuple[Disk, ...]
    chain_seq: int
    scorer_versions: tuple[str, ...] = ()  # of the workers that run
    backup: BackupRecord | None = None  # the newest copy
    backup_failed: BackupRecord | None = None  # the attempt that failed after it
    suspicions: int = 0  # that nobody has decided about
    busy: Alarm | None = None  # what accounts have had scored that somebody should look at
    integrity: IntegrityAlarm | None = None  # stored rows that are not what the audit chain says
    integrity_checked_at: float | None = None  # when a worker last compared all of them
    weakly_hidden: tuple[WeaklyHidden, ...] = ()  # label sets that are not public and hide little
    labels_missing: str | None = None  # what to do where no worker holds the labels that the board shows

    @property
    def advice(self) -> str | None:
        """Alarms for a maintainer: labels that no worker holds or that hide little, workers with other rules."""
        weak = [f"ALARM: {one.sentence} {_WEAK}" for one in self.weakly_hidden if not one.accepted]
        return " ".join(filter(None, (self.labels_missing, self._other_rules, *weak))) or None

    @property
    def _other_rules(self) -> str | None:
        if not self.scorer_versions or self.scorer_version is None or self.scorer_version in self.scorer_versions:
            return None
        newer = self.scorer_versions[-1]
        return (
            f"The workers count by scorer version {newer}, the board shows {self.scorer_version}, so new submissions "
            f"wait. Preview, then apply label revision {self.label_revision} with scorer version {newer}."
        )


def request_backup(database: Database, user: Identity) -> ActionResult:
    """Have a worker copy the database now, beside the daily copies. For maintainers."""
    require_maintainer(user)
    with database.write() as session:
        task, new = tasks.request(session, TaskRequest(BACKUP, "database", {}, "asked for", user.account))
    return ActionResult(new, f"A worker copies the database (task {task}).", task_id=task)


def requeue(database: Database, user: Identity, job_id: int) -> ActionResult:
    """Have a failed job tried again. For maintainers. Raises NotFound."""
    require_maintainer(user)
    with database.write() as session:
        if not queries.job_exists(session, job_id):
            raise NotFound(f"There is no job {job_id}.")
        if not job_queue.requeue(session, job_id):
            return ActionResult(False, f"Job {job_id} has not failed, or is waiting again already.")
        seq = audit.append(session, REQUEUED, {"job": job_id, "by": user.account, "via": user.auth_method})
    return ActionResult(True, f"Job {job_id} waits to be tried again.", seq)


def requeue_all(database: Database, user: Identity, benchmark: str) -> ActionResult:
    """Have every failed job tried again, each on record; failed tasks are asked for one by one. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        failed = queries.failed_jobs(session, benchmark, limit=10_000)
        others = len(tasks.failures(session, _LATELY))
    changed = sum(requeue(database, user, one.job_id).changed for one in failed)
    left = f" Failed tasks, which are asked for again one by one: {others}." if others else ""
    return ActionResult(changed > 0, f"{pluralize(changed, 'job waits', 'jobs wait')} to be tried again.{left}")


def pause(database: Database, user: Identity, message: str) -> ActionResult:
    """Take no submissions until resumed; `message` says why, in public. For maintainers."""
    require_maintainer(user)
    text = clean_reason(message, "message")
    with database.write() as session:
        if not submission_pause.pause(session, text):
            return ActionResult(False, "Submissions are paused already.")
        seq = audit.append(session, PAUSED, {"message": text, "by": user.account, "via": user.auth_method})
    return ActionResult(True, "Submissions are paused.", seq)


def resume(database: Database, user: Identity) -> ActionResult:
    """Take submissions again. For maintainers."""
    require_maintainer(user)
    with database.write() as session:
        if not submission_pause.resume(session):
            return ActionResult(False, "Submissions are not paused.")
        seq = audit.append(session, RESUMED, {"by": user.account, "via": user.auth_method})
    return ActionResult(True, "Submissions are taken again.", seq)


def health(database: Database, user: Identity, benchmark: str, paths: Sequence[Path] = ()) -> Health:
    """Queue, workers, failures and disks. For maintainers."""
    require_maintainer(user)
    busy = alarm(database, user)
    with database.read() as session:
        board = label_sets.current(session, benchmark)
        return Health(
            paused=submission_pause.pause_message(session),
            label_revision=board.label_revision if board else None,
            scorer_version=board.scorer_version if board else None,
            jobs=queries.counts(session, Job),
            tasks=queries.counts(session, Task),
            waiting_seconds=queries.oldest_waiting(session),
            workers=tuple(queries.workers(session)),
            failures=tuple(queries.failed_jobs(session, benchmark)),
            failed_tasks=tuple(tasks.failures(session, _LATELY)),
            disks=tuple(_disk(path) for path in paths if path.exists()),
            chain_seq=audit.head(session).seq,
            scorer_versions=worker_heartbeats.scorer_versions(session),
            backup=(made := backups.last(session)),
            backup_failed=_since(made, backups.last(session, whole=False)),
            suspicions=anomalies.number_open(session, benchmark),
            busy=busy,
            integrity=integrity_alarms.alarm(session),
            integrity_checked_at=integrity_alarms.checked_at(session),
            weakly_hidden=tuple(weak_hiding.known(session, benchmark)),
            labels_missing=(
                label_availability.revisions_not_loaded(session, benchmark, board.label_revision) if board else None
            ),
        )


def task(database: Database, user: Identity, task_id: int) -> TaskView:
    """Return how far a worker is with something. For maintainers. Raises NotFound."""
    require_maintainer(user)
    with database.read() as session:
        found = tasks.view(session, task_id)
    if found is None:
        raise NotFound(f"There is no task {task_id}.")
    return found


def recent_tasks(database: Database, user: Identity) -> list[TaskView]:
    """Return what workers were asked lately, the newest first. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        return tasks.latest(session, _LATELY)


def _since(made: BackupRecord | None, failed: BackupRecord | None) -> BackupRecord | None:
    """Return a failure that no copy has followed."""
    return failed if failed is not None and (made is None or failed.started_at > made.started_at) else None


def _disk(path: Path) -> Disk:
    usage = shutil.disk_usage(path)
    return Disk(str(path), usage.total, usage.free)
