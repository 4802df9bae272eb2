"""What happens at intervals beside the loop: heartbeats, expired leases, gaps, snapshots, relations, detection.

Only this uses APScheduler.

Several workers may do all this at once: every action is harmless when done twice, and none trusts that it runs alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from workers.desk import Desk
from workers.runner import Worker

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
DETECT_SECONDS = 2.0

log = logging.getLogger(__name__)


@contextmanager
def running(worker: Worker, desk: Desk | None = None) -> Iterator[None]:
    """Runs the regular actions of a worker in threads of this process; at the end stops them and waits for the last."""
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
    _every(scheduler, min(HEARTBEAT_SECONDS, lease / 4), "heartbeat", worker.beat)
    _every(scheduler, min(RELEASE_SECONDS, lease / 4), "release", worker.release_expired)
    _every(scheduler, GAP_SECONDS, "gaps", worker.fill_gaps)
    _every(scheduler, REVEAL_SECONDS, "reveal", worker.reveal)
    _every(scheduler, SNAPSHOT_SECONDS, "snapshot", Unhurried(worker.publish))
    _every(scheduler, SNAPSHOT_SECONDS, "relations", Unhurried(worker.relate))
    _every(scheduler, DETECT_SECONDS, "detection", Unhurried(worker.detect))
    if desk is not None:
        _every(scheduler, TASK_SECONDS, "tasks", desk.drain)
        _every(scheduler, REFRESH_SECONDS, "labels", desk.refresh)
        _every(scheduler, REFRESH_SECONDS, "hiding", desk.watch_hiding)
        _every(scheduler, min(RELEASE_SECONDS, lease / 4), "release-tasks", desk.release_expired)
        _every(scheduler, HEAD_SECONDS, "head", desk.keep_head, at_once=True)  # a worker need not live so long
        _every(scheduler, BACKUP_SECONDS, "backup", desk.back_up)
        _every(scheduler, INTEGRITY_SECONDS, "integrity", desk.check_rows)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


class Unhurried:
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


def _every(
    scheduler: BackgroundScheduler, seconds: float, name: str, action: Callable[[], object], *, at_once: bool = False
) -> None:
    first = {"next_run_time": datetime.now(UTC)} if at_once else {}
    scheduler.add_job(_guarded(name, action), "interval", seconds=seconds, id=name, **first)


def _guarded(name: str, action: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        try:
            action()
        except Exception:  # the edge: the next turn comes soon, and the worker must not stop scoring
            log.exception("schedule.failed", extra={"data": {"action": name}})

    return run
