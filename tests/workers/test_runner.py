"""The loop, its regular actions, and how a worker starts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from operation.alarms import service_alarms
from storage.changes import LOOK_SECONDS
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, worker_heartbeats
from storage.models.core import Score
from storage.models.queue import Job
from tests.databases import shown_board
from tests.factories import small_benchmark
from tests.factories.services.service import PATIENCE, until
from workers import runner, schedule
from workers.jobs.score import ScoringOutcome
from workers.runner import Worker, drain, run
from workers.schedule import PeriodicAction, repeat
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import create_task_runner


def _never() -> bool:
    return False


def test_the_loop_works_until_it_is_told_to_stop_and_rests_when_there_is_nothing(worker: Worker) -> None:
    small_benchmark.submit(worker.database, range(3), queued=True)
    rests: list[float] = []
    assert run(worker, lambda: bool(rests), rest=rests.append) == 3
    assert rests == [LOOK_SECONDS]


def test_the_loop_outlives_a_database_that_is_away_for_a_while(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    small_benchmark.submit(worker.database, range(1), queued=True)
    real, failures = runner.score_next, [True, True]

    def sometimes_away(*arguments: Any, **named: Any) -> ScoringOutcome:
        if failures:
            failures.pop()
            raise OperationalError("", None, Exception("the server is restarting"))
        return real(*arguments, **named)

    monkeypatch.setattr(runner, "score_next", sometimes_away)
    rests: list[float] = []
    assert run(worker, lambda: len(rests) == 3, rest=rests.append) == 1
    assert rests == [runner.TROUBLE_SECONDS, runner.TROUBLE_SECONDS, LOOK_SECONDS]


def test_what_is_done_once_a_day_is_looked_at_from_the_start(worker: Worker, tmp_path: Path) -> None:
    runner = create_task_runner(worker.database, small_benchmark.scorer(), state=tmp_path / "state", lease_seconds=60.0)
    with schedule.running(worker, [runner]):
        _wait(lambda: any((tmp_path / "state" / "audit").glob("head-*.json")))


def _wait(condition: Callable[[], bool]) -> None:
    until(condition, PATIENCE, what="what the schedule does by itself")


def test_the_schedule_releases_expired_leases_keeps_those_held_and_beats(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(schedule, "RELEASE_SECONDS", 0.1)
    small_benchmark.submit(worker.database, range(2), queued=True)
    with worker.database.write() as session:
        dead = job_queue.claim(session, "dead", lease_seconds=0.2)
        held = job_queue.claim(session, worker.name, lease_seconds=worker.lease_seconds / 2)
    assert dead is not None
    assert held is not None
    worker.held.set(held)

    def jobs() -> dict[int, Job]:
        with worker.database.read() as session:
            return {job.id: job for job in session.scalars(select(Job))}

    claimed = jobs()[held.id]
    with schedule.running(worker):
        _wait(lambda: jobs()[dead.id].state == "queued")
        _wait(lambda: (jobs()[held.id].lease_until or 0) > (claimed.lease_until or 0))
    assert jobs()[held.id].state == "running"
    with worker.database.read() as session:
        seen = worker_heartbeats.last_seen(session)
    assert seen is not None
    assert seen.name == worker.name
    assert seen.seconds_ago < 60


def test_a_slow_snapshot_is_made_less_often() -> None:
    now = [0.0]
    turns: list[float] = []

    def slow() -> None:
        turns.append(now[0])
        now[0] += 1.5

    action = schedule.Throttled(slow, clock=lambda: now[0])
    while now[0] < 10:
        action()
        now[0] += 0.5
    assert turns == [0.0, 4.5, 9.0]


def test_the_setting_says_what_a_new_board_shows_and_leaves_an_old_one_alone(
    database: Database, scorer: Scorer, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(database, scorer, label_revision="flipped")
    assert "board.shows_another_revision" not in caplog.messages
    prepare(database, scorer, label_revision="demo")
    assert caplog.messages.count("board.shows_another_revision") == 1
    assert shown_board(database).label_revision == "flipped"


def test_a_worker_without_the_labels_of_the_board_leaves_it_scores_nothing_and_says_so(
    database: Database, scorer: Scorer, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(database, scorer, label_revision="flipped")
    small_benchmark.submit(database, range(2), queued=True)
    other = Scorer(scorer.table, {"demo": scorer.labels["demo"]}, version=scorer.version)
    with database.read() as session:
        before = audit.head(session)
    prepare(database, other, label_revision="demo")
    stranger = Worker(database, [other], lease_seconds=60)
    stranger.heartbeat()
    assert (stranger.enqueue_missing(), drain(stranger, _never, rest=time.sleep)) == (0, 0)
    with database.read() as session:
        jobs = set(map(tuple, session.execute(select(Job.label_revision, Job.state))))
        assert (audit.head(session), session.scalars(select(Score.id)).all()) == (before, [])
        (alarm,) = service_alarms(session, (), benchmarks={"demo": "Demo"})
    assert shown_board(database).label_revision == "flipped"
    assert jobs == {("flipped", "queued")}
    assert "labels.missing" in caplog.messages
    assert (alarm.code, alarm.blocking) == ("labels-missing", True)
    right = Worker(database, [scorer], lease_seconds=60)
    right.heartbeat()
    assert drain(right, _never, rest=time.sleep) == 4
    with database.read() as session:
        (alarm,) = service_alarms(session, (), benchmarks={"demo": "Demo"})
    assert (alarm.code, alarm.blocking, alarm.effect) == ("worker-without-labels", False, "")
    assert stranger.name in alarm.sentence and "LABELS" in alarm.sentence
    assert stranger.name not in alarm.public


def test_a_worker_looks_for_jobs_again_when_something_has_changed(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, rests, looks = runner.score_next, list[float](), list[int]()

    def look(*arguments: Any, **named: Any) -> ScoringOutcome:
        looks.append(len(rests))
        return real(*arguments, **named)

    monkeypatch.setattr(runner, "score_next", look)
    run(worker, lambda: len(rests) == 9, rest=rests.append, changes=lambda: len(rests) >= 5)
    assert looks == [0, 5]


def test_what_only_an_event_can_cause_waits_for_one_and_is_tried_again_where_it_failed() -> None:
    now, count, turns = [0.0], [1], list[int]()

    def action() -> None:
        turns.append(count[0])
        if len(turns) == 3:
            raise OperationalError("", None, Exception("away"))

    after = schedule.AfterEvents(action, lambda: count[0] or None, clock=lambda: now[0])
    for _ in range(3):
        after()
    assert turns == [1]
    count[0] = 2
    after()
    assert turns == [1, 2]
    now[0] = runner.LISTENING_SECONDS
    with pytest.raises(OperationalError):
        after()
    after()
    assert len(turns) == 4
    count[0] = 0  # nobody can say
    after()
    after()
    assert len(turns) == 6


def test_turns_that_were_missed_are_not_made_up_for() -> None:
    stop, turns = threading.Event(), list[float]()
    times = iter([0.0, 1.0, 1.0, 1e9, 1e9, 1e9, 1e9])

    def clock() -> float:
        now = next(times, None)
        if now is None:
            stop.set()
            return 1e9
        return now

    repeat([PeriodicAction("often", 0.5, lambda: turns.append(1))], stop, clock=clock)
    assert len(turns) == 2, "one after a second, one after a billion"


def test_an_action_that_fails_holds_up_none_after_it(caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()

    def fail() -> None:
        raise OSError("odd")

    actions = [PeriodicAction("fails", 0.0, fail), PeriodicAction("stops", 0.0, stop.set)]
    repeat(actions, stop)
    assert "schedule.failed" in caplog.text
