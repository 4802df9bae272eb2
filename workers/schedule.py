"""Periodic duties beside the loop: heartbeats, expired leases, missing jobs, snapshots, statistics.

Only this uses APScheduler.

Several workers may do all this at once: every action is harmless when done twice, and none trusts that it runs alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from storage.database_wait import log_away
from workers.runner import LISTENING_SECONDS, Worker
from workers.task_runner import TaskRunner

SNAPSHOT_SECONDS = 0.5
GAP_SECONDS = 5.0
REVEAL_SECONDS = 10.0
RELEASE_SECONDS = 5.0
HEARTBEAT_SECONDS = 15.0
TASK_SECONDS = 0.5
REFRESH_SECONDS = 2.0
HEAD_SECONDS = 600.0
BACKUP_SECONDS = 600.0
INTEGRITY_SECONDS = 600.0
THINNING_SECONDS = 3600.0
MIRROR_SECONDS = 1.0

log = logging.getLogger(__name__)


@contextmanager
def running(
    worker: Worker,
    runners: Sequence[TaskRunner] = (),
    *,
    mirrors: Sequence[Callable[[], object]] = (),
    check_files: Callable[[], object] = lambda: None,
    heard: Callable[[], int | None] = lambda: None,
) -> Iterator[None]:
    """Run the regular actions of a worker in threads of this process; at the end stops them and waits for the last.

    `runners`: of maintainers' tasks, one for each benchmark. `check_files`: of stored files, which it reads once a day.
    `heard`: as of ``workers.runner.run``; what only an
    event can cause then waits for one.
    """
    # Two lines a second about nothing; what goes wrong is logged by _guarded.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    # More threads than may be busy for long: a heartbeat must not wait behind a snapshot or a maintainer's task.
    scheduler = BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(8)},
        # Said rather than left to defaults: after a pause an action runs once, never beside itself, and not so late
        # as to be dropped (the default drops what is a second late).
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 60},
        timezone=UTC,
    )
    lease = worker.lease_seconds
    _at_interval(scheduler, min(HEARTBEAT_SECONDS, lease / 4), name="heartbeat", action=worker.heartbeat)
    _at_interval(scheduler, min(RELEASE_SECONDS, lease / 4), name="release", action=worker.release_expired)
    _at_interval(scheduler, GAP_SECONDS, name="gaps", action=worker.enqueue_missing)
    _at_interval(scheduler, REVEAL_SECONDS, name="reveal", action=worker.end_anonymity)
    _at_interval(
        scheduler, SNAPSHOT_SECONDS, name="snapshot", action=Throttled(AfterEvents(worker.publish_snapshot, heard))
    )
    _at_interval(
        scheduler, SNAPSHOT_SECONDS, name="relations", action=Throttled(AfterEvents(worker.compute_pairwise, heard))
    )
    for place, runner in enumerate(runners):
        more = f"-{place}" if place else ""
        _at_interval(scheduler, TASK_SECONDS, name=f"tasks{more}", action=runner.run_all)
        _at_interval(scheduler, REFRESH_SECONDS, name=f"labels{more}", action=runner.refresh)
        _at_interval(scheduler, REFRESH_SECONDS, name=f"bring-labels{more}", action=runner.bring_labels)
    for runner in runners[:1]:  # what concerns the whole installation
        _at_interval(scheduler, min(RELEASE_SECONDS, lease / 4), name="release-tasks", action=runner.release_expired)
        _at_interval(
            scheduler, HEAD_SECONDS, name="head", action=runner.keep_head, at_once=True
        )  # a worker need not live so long
        _at_interval(scheduler, BACKUP_SECONDS, name="backup", action=runner.back_up)
        _at_interval(scheduler, INTEGRITY_SECONDS, name="integrity", action=runner.check_rows)
        _at_interval(scheduler, INTEGRITY_SECONDS, name="files", action=check_files)
        _at_interval(scheduler, THINNING_SECONDS, name="thinning", action=runner.thin_snapshots)
    for number, mirror in enumerate(mirrors):
        _at_interval(scheduler, MIRROR_SECONDS, name=f"mirror-{number}", action=mirror)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


class Throttled:
    """An action that takes at most a third of the time: after a long turn it skips the next ones.

    A snapshot of 10,000 entries takes a second; while a backlog is scored, every one would be outdated at birth.
    """

    def __init__(self, action: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._action, self._clock = action, clock
        self._not_before = clock()

    def __call__(self) -> None:
        started = self._clock()
        if started < self._not_before:
            return
        self._action()
        ended = self._clock()
        self._not_before = ended + 2 * (ended - started)


class AfterEvents:
    """An action that has nothing to do until an event is announced. It looks now and then all the same."""

    def __init__(
        self,
        action: Callable[[], object],
        heard: Callable[[], int | None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._action, self._heard, self._clock = action, heard, clock
        self._seen: int | None = None
        self._again = clock()

    def __call__(self) -> None:
        """Run the action, unless nothing was announced since its last turn."""
        count, now = self._heard(), self._clock()
        if count is not None and count == self._seen and now < self._again:
            return
        self._action()  # where it fails, the next turn tries again
        self._seen, self._again = count, now + LISTENING_SECONDS


def _at_interval(
    scheduler: BackgroundScheduler, seconds: float, *, name: str, action: Callable[[], object], at_once: bool = False
) -> None:
    first = {"next_run_time": datetime.now(UTC)} if at_once else {}
    scheduler.add_job(_log_errors(name, action), "interval", seconds=seconds, id=name, **first)


def _log_errors(name: str, action: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        try:
            action()
        except Exception as error:  # the edge: the next turn comes soon, and the worker must not stop scoring
            if not log_away(error):
                log.exception("schedule.failed", extra={"data": {"action": name}})

    return run
