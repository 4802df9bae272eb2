"""Periodic actions beside the loop of jobs: heartbeats, expired leases, missing jobs, snapshots, statistics.

What runs every few seconds is a loop: a thread that counts seconds by a clock which never jumps. APScheduler runs the
rest, by the clock on the wall. A turn that was missed is not made up for.
Several workers may do all this at once: every action is harmless when done twice, and none trusts that it runs alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

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
RARE_SECONDS = 600.0
MIRROR_SECONDS = 1.0
_LEAVE_SECONDS = 2.0  # that all loops together get to finish their turns at the end

HEARTBEAT, QUEUE = "heartbeat", "queue"
"""Loops whose turns are short, so that one which makes none stands still."""

log = logging.getLogger(__name__)


class PeriodicAction(NamedTuple):
    """An action, and the seconds between two turns."""

    name: str
    seconds: float
    run: Callable[[], object]


@contextmanager
def running(
    worker: Worker,
    runners: Sequence[TaskRunner] = (),
    *,
    mirrors: Sequence[Callable[[], object]] = (),
    changes: Callable[[], object] = lambda: None,
    turned: Callable[[str], object] = lambda loop: None,
) -> Iterator[None]:
    """Run the regular actions of a worker in threads of this process; at the end have them finish their turns, for a
    moment.

    `runners`: of maintainers' tasks, one for each benchmark.
    `changes`: of storage/changes.py; what only an event can cause waits for one.
    `turned`: called with a loop's name after each of its turns.
    """
    loops = {
        **_board_loops(worker, changes),
        **_maintenance_loops(worker, runners, changes=changes),
        "mirrors": [PeriodicAction("mirror", MIRROR_SECONDS, mirror) for mirror in mirrors],
    }
    stop = threading.Event()
    threads = [
        threading.Thread(target=repeat, args=(actions, stop), kwargs={"turned": partial(turned, name)}, daemon=True)
        for name, actions in loops.items()
        if actions
    ]
    for thread in threads:
        thread.start()
    rare = _rare(runners[:1])
    rare.start()
    try:
        yield
    finally:
        stop.set()
        rare.shutdown(wait=False)
        end = time.monotonic() + _LEAVE_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))


def _board_loops(worker: Worker, changes: Callable[[], object]) -> Mapping[str, Sequence[PeriodicAction]]:
    """Return what the worker itself does. A loop of its own has what others must not wait for, or may wait for."""
    lease = worker.lease_seconds
    snapshot, relations = (
        Throttled(AfterEvents(action, changes)) for action in (worker.publish_snapshot, worker.compute_pairwise)
    )
    return {
        HEARTBEAT: [PeriodicAction("heartbeat", min(HEARTBEAT_SECONDS, lease / 4), worker.heartbeat)],
        QUEUE: [
            PeriodicAction("release", min(RELEASE_SECONDS, lease / 4), worker.release_expired),
            PeriodicAction("gaps", GAP_SECONDS, worker.enqueue_missing),
            PeriodicAction("reveal", REVEAL_SECONDS, worker.end_anonymity),
        ],
        "snapshot": [PeriodicAction("snapshot", SNAPSHOT_SECONDS, snapshot)],
        "relations": [PeriodicAction("relations", SNAPSHOT_SECONDS, relations)],
    }


def _maintenance_loops(
    worker: Worker, runners: Sequence[TaskRunner], *, changes: Callable[[], object]
) -> Mapping[str, Sequence[PeriodicAction]]:
    """Return what maintainers' tasks need. A task may take minutes, in a loop of each benchmark."""
    tasks = {
        f"tasks-{place}": [PeriodicAction("tasks", TASK_SECONDS, AfterEvents(runner.run_all, changes))]
        for place, runner in enumerate(runners)
    }
    labels = [
        PeriodicAction(name, REFRESH_SECONDS, AfterEvents(action, changes))
        for runner in runners
        for name, action in (("labels", runner.refresh), ("bring-labels", runner.bring_labels))
    ]
    return {**tasks, "labels": labels}


def _rare(runners: Sequence[TaskRunner]) -> BackgroundScheduler:
    """Return what looks after the whole installation now and then, one action after the other."""
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # what goes wrong is logged by run_logged
    late = {"coalesce": True, "misfire_grace_time": None}
    scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(1)}, job_defaults=late, timezone=UTC)
    for runner in runners:
        head = PeriodicAction("head", RARE_SECONDS, runner.keep_head)
        integrity = PeriodicAction("integrity", RARE_SECONDS, runner.check_rows)
        for action in (head, integrity):
            scheduler.add_job(run_logged, "interval", [action], seconds=action.seconds, id=action.name)
        scheduler.modify_job(head.name, next_run_time=datetime.now(UTC))  # a worker need not live so long
    return scheduler


def repeat(
    actions: Sequence[PeriodicAction],
    stop: threading.Event,
    *,
    turned: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run each action whenever its seconds have passed since its last turn, one after the other, until stopped."""
    due = [clock() + action.seconds for action in actions]
    while not stop.is_set():
        for place, action in enumerate(actions):
            if clock() >= due[place] and not stop.is_set():
                run_logged(action)
                due[place] = clock() + action.seconds
        turned()
        stop.wait(max(0.0, min(due) - clock()))


def run_logged(action: PeriodicAction) -> None:
    """Take one turn; what goes wrong is logged."""
    try:
        action.run()
    except Exception as error:  # the edge: the next turn comes soon, and the worker must not stop scoring
        if not log_away(error):
            log.exception("schedule.failed", extra={"data": {"action": action.name}})


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
    """An action that has nothing to do until something has changed. It looks now and then all the same."""

    def __init__(
        self,
        action: Callable[[], object],
        changes: Callable[[], object],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._action, self._changes, self._clock = action, changes, clock
        self._seen: object = None
        self._again = clock()

    def __call__(self) -> None:
        """Run the action, unless nothing has changed since its last turn."""
        value, now = self._changes(), self._clock()
        if value is not None and value == self._seen and now < self._again:
            return
        self._action()  # where it fails, the next turn tries again
        self._seen, self._again = value, now + LISTENING_SECONDS
