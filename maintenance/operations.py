"""Keeping the service running: failed jobs, the pause switch, and how everything is."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.wording import counted
from maintenance import holders, queries
from maintenance.queries import FailedJob, Heart
from maintenance.suspicions.actions import Alarm, alarm
from maintenance.values import Done, Identity, NotFound, require_maintainer, words
from storage import (
    audit,
    backups,
    integrity_alarms,
    job_queue,
    label_sets,
    presence,
    suspicions,
    switches,
    tasks,
    weak_hiding,
)
from storage.backups import Made
from storage.database import Database
from storage.integrity_alarms import IntegrityAlarm
from storage.maintenance_tables import Task
from storage.tables import Job
from storage.tasks import TaskView
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
    """How the service is."""

    paused: str | None  # the public message, while submissions are paused
    label_revision: str | None
    scorer_version: str | None
    jobs: dict[str, int]
    tasks: dict[str, int]
    waiting_seconds: float | None  # the longest that a queued job has waited
    workers: tuple[Heart, ...]
    failures: tuple[FailedJob, ...]
    failed_tasks: tuple[TaskView, ...]  # after which nobody asked for the same
    disks: tuple[Disk, ...]
    chain_seq: int
    scorer_versions: tuple[str, ...] = ()  # of the workers that run
    backup: Made | None = None  # the newest copy
    backup_failed: Made | None = None  # the attempt that failed after it
    suspicions: int = 0  # that nobody has decided about
    busy: Alarm | None = None  # what accounts have had scored that somebody should look at
    integrity: IntegrityAlarm | None = None  # stored rows that are not what the audit chain says
    integrity_checked_at: float | None = None  # when a worker last compared all of them
    weakly_hidden: tuple[WeaklyHidden, ...] = ()  # label sets that are not public and hide little
    labels_missing: str | None = None  # what to do where no worker holds the labels that the board shows

    @property
    def advice(self) -> str | None:
        """What waits for a maintainer: labels that no worker holds or that hide little, workers by other rules."""
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


def request_backup(database: Database, who: Identity) -> Done:
    """Have a worker copy the database now, beside the daily copies. For maintainers."""
    require_maintainer(who)
    with database.write() as session:
        task, new = tasks.request(session, BACKUP, "database", {}, "asked for", who.account)
    return Done(new, f"A worker copies the database (task {task}).", task_id=task)


def requeue(database: Database, who: Identity, job_id: int) -> Done:
    """Have a failed job tried again. For maintainers. Raises NotFound."""
    require_maintainer(who)
    with database.write() as session:
        if not queries.job_exists(session, job_id):
            raise NotFound(f"There is no job {job_id}.")
        if not job_queue.requeue(session, job_id):
            return Done(False, f"Job {job_id} has not failed, or is waiting again already.")
        seq = audit.append(session, REQUEUED, {"job": job_id, "by": who.account, "via": who.via})
    return Done(True, f"Job {job_id} waits to be tried again.", seq)


def requeue_all(database: Database, who: Identity, benchmark: str) -> Done:
    """Have every failed job tried again, each on record; failed tasks are asked for one by one. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        failed = queries.failed_jobs(session, benchmark, limit=10_000)
        others = len(tasks.failures(session, _LATELY))
    changed = sum(requeue(database, who, one.job_id).changed for one in failed)
    left = f" Failed tasks, which are asked for again one by one: {others}." if others else ""
    return Done(changed > 0, f"{counted(changed, 'job waits', 'jobs wait')} to be tried again.{left}")


def pause(database: Database, who: Identity, message: str) -> Done:
    """Take no submissions until resumed; `message` says why, in public. For maintainers."""
    require_maintainer(who)
    text = words(message, "message")
    with database.write() as session:
        if not switches.turn_on(session, text):
            return Done(False, "Submissions are paused already.")
        seq = audit.append(session, PAUSED, {"message": text, "by": who.account, "via": who.via})
    return Done(True, "Submissions are paused.", seq)


def resume(database: Database, who: Identity) -> Done:
    """Take submissions again. For maintainers."""
    require_maintainer(who)
    with database.write() as session:
        if not switches.turn_off(session):
            return Done(False, "Submissions are not paused.")
        seq = audit.append(session, RESUMED, {"by": who.account, "via": who.via})
    return Done(True, "Submissions are taken again.", seq)


def health(database: Database, who: Identity, benchmark: str, paths: Sequence[Path] = ()) -> Health:
    """Queue, workers, failures and disks. For maintainers."""
    require_maintainer(who)
    busy = alarm(database, who)
    with database.read() as session:
        board = label_sets.current(session)
        return Health(
            paused=switches.message(session),
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
            scorer_versions=presence.scorer_versions(session),
            backup=(made := backups.last(session)),
            backup_failed=_since(made, backups.last(session, whole=False)),
            suspicions=suspicions.number_open(session, benchmark),
            busy=busy,
            integrity=integrity_alarms.alarm(session),
            integrity_checked_at=integrity_alarms.checked_at(session),
            weakly_hidden=tuple(weak_hiding.known(session, benchmark)),
            labels_missing=holders.missing(session, board.label_revision) if board else None,
        )


def task(database: Database, who: Identity, task_id: int) -> TaskView:
    """How far a worker is with something. For maintainers. Raises NotFound."""
    require_maintainer(who)
    with database.read() as session:
        found = tasks.view(session, task_id)
    if found is None:
        raise NotFound(f"There is no task {task_id}.")
    return found


def recent_tasks(database: Database, who: Identity) -> list[TaskView]:
    """What workers were asked lately, the newest first. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return tasks.latest(session, _LATELY)


def _since(made: Made | None, failed: Made | None) -> Made | None:
    """A failure that no copy has followed."""
    return failed if failed is not None and (made is None or failed.started_at > made.started_at) else None


def _disk(path: Path) -> Disk:
    usage = shutil.disk_usage(path)
    return Disk(str(path), usage.total, usage.free)
