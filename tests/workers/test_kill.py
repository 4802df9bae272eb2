"""Workers that are killed, stopped, or sleep through their lease: nothing is lost, nothing is recorded twice."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from storage.changes import LOOK_SECONDS
from storage.database import Database, migrate, open_database
from storage.integrity import audit
from storage.jobs import leases
from storage.models.core import AuditEvent, Score, Submission
from storage.models.queue import Job
from tests.factories import small_benchmark
from tests.factories.services.service import PATIENCE, halt, until
from tests.factories.suite.fork_server import fork_server
from vlrb.scoring import Tally
from workers import __main__ as entry
from workers import runner, schedule
from workers.jobs import score

pytestmark = pytest.mark.timeout(400)
LEASE = 0.6
WORKERS, KILLS, SUBMISSIONS = 3, 5, 20


@dataclass(frozen=True)
class Manner:
    """How a worker works.

    `job_seconds`: the longest of the random durations, which are at least half of it; `overrun`: share of the jobs that
    take twice the lease, without heartbeats; `hold`: as long as a file of this name exists, no job comes to its end.
    """

    job_seconds: float = 0.0
    overrun: float = 0.0
    hold: str = ""


def serve(environ: dict[str, str], log: str, manner: Manner) -> None:
    """What the process does."""
    os.environ.update(environ)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    _slow_down(manner, 2 * float(environ["LEASE_SECONDS"]))
    # That a job is given up at last is another rule with tests of its own; on a busy machine it would come in between.
    leases.MAX_ATTEMPTS = 1000
    sys.exit(entry.main([]))


def _slow_down(manner: Manner, overrun_seconds: float) -> None:
    real, real_get = score.tally_many, runner.CurrentJob.get
    dice, hanging = random.Random(), False

    def slow(*arguments: Any, **named: Any) -> list[Tally]:
        nonlocal hanging
        hanging = dice.random() < manner.overrun
        time.sleep(overrun_seconds if hanging else dice.uniform(manner.job_seconds / 2, manner.job_seconds))
        while manner.hold and Path(manner.hold).exists():
            time.sleep(0.01)
        hanging = False
        return real(*arguments, **named)

    def get(self: runner.CurrentJob) -> Job | None:
        return None if hanging else real_get(self)  # a worker that hangs does not send heartbeats either

    score.tally_many = slow
    runner.CurrentJob.get = get  # type: ignore[method-assign]


@dataclass
class WorkerSite:
    """A demo installation and its worker processes."""

    environ: dict[str, str]
    log: Path
    database: Database
    processes: list[Any] = field(default_factory=list)

    def start_worker(self, manner: Manner | None = None) -> Any:
        process = fork_server().Process(target=serve, args=(self.environ, str(self.log), manner or Manner()))
        process.start()
        self.processes.append(process)
        return process

    def kill(self, process: Any) -> None:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        self.processes.remove(process)

    def busy(self) -> Any:
        """Return the process of a living worker that has a job, once there is one. Jobs of dead ones run on paper."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with self.database.read() as session:
                names = session.scalars(select(Job.worker).where(Job.state == "running")).all()
            if found := [one for one in self.processes if any(f"-{one.pid}-" in name for name in names if name)]:
                return found[0]
            time.sleep(0.01)
        raise AssertionError("no worker has a job")

    def submit(self, numbers: range) -> list[str]:
        return small_benchmark.submit(self.database, numbers, queued=True)

    def stop_outside_transactions(self, process: Any) -> None:
        """SIGSTOP at a moment at which the process holds no lock of the database: a thread of it writes heartbeats."""
        while True:
            halt(process.pid)
            if not self._somebody_writes():
                return
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.02)

    def _somebody_writes(self) -> bool:
        if self.database.engine.dialect.name == "postgresql":
            others = "xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            return bool(self._ask(f"SELECT count(*) FROM pg_stat_activity WHERE {others}"))
        connection = sqlite3.connect(str(self.database.engine.url.database), timeout=0)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()
        return False

    def wait_for(self, query: str, expected: Any, *, seconds: float = PATIENCE) -> None:
        """Raise AssertionError where the database does not answer as expected in time."""
        deadline = time.monotonic() + seconds
        while (found := self._ask(query)) != expected:
            hopeless = time.monotonic() > deadline or any(one.exitcode for one in self.processes)
            assert not hopeless, f"{query}: {found}, not {expected}\n{self.log.read_text()[-3000:]}"
            time.sleep(0.05)

    def wait_for_board(self) -> None:
        """The first worker has prepared everything."""
        self.wait_for("SELECT count(*) FROM board", 1)

    def _ask(self, query: str) -> Any:
        with self.database.read() as session:
            return session.execute(text(query)).scalar_one()


@contextmanager
def _site(url: str, tmp_path: Path, *, lease: float = LEASE) -> Iterator[WorkerSite]:
    data = tmp_path / "installation"
    small_benchmark.write_demo(data)
    environ = {"DATA_DIR": str(data), "DATABASE_URL": url, "LEASE_SECONDS": str(lease), "LABELS": ""}
    site = WorkerSite(environ, tmp_path / "worker.log", database=open_database(url))
    migrate(site.database)  # as the web process does
    try:
        yield site
    finally:
        for process in site.processes:
            process.kill()
            process.join()
        site.database.close()


@dataclass(frozen=True)
class History:
    """What the tables say happened."""

    lost: list[str]
    doubled: list[str]
    unrecorded: list[str]
    open_jobs: int
    broken_at: audit.ChainError | None


def _history(database: Database) -> History:
    with database.read() as session:
        submitted = set(session.scalars(select(Submission.id)))
        scores = Counter(session.scalars(select(Score.submission_id)))
        bodies = session.scalars(select(AuditEvent.body).where(AuditEvent.kind == "submission.scored"))
        events = Counter(str(re.findall(r'"submission":"(\w+)"', body)[0]) for body in bodies)
        return History(
            lost=sorted(submitted - set(scores)),
            doubled=sorted(name for name, count in scores.items() if count > 1),
            unrecorded=sorted(name for name in submitted if events[name] != scores[name]),
            open_jobs=len(session.scalars(select(Job.id).where(Job.state != "done")).all()),
            broken_at=audit.verify(session),
        )


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # on PostgreSQL: operation/test_topology.py
def test_kills_during_submissions_lose_nothing_and_score_nothing_twice(database_url: str, tmp_path: Path) -> None:
    manner = Manner(0.2, overrun=0.05)
    with _site(database_url, tmp_path) as site:
        for _ in range(WORKERS):
            site.start_worker(manner)
        site.wait_for_board()
        for turn in range(KILLS):
            site.submit(range(turn * SUBMISSIONS // KILLS, (turn + 1) * SUBMISSIONS // KILLS))
            site.kill(site.busy())
            site.start_worker(manner)
        site.wait_for("SELECT count(*) FROM queue WHERE state IN ('queued', 'running')", 0, seconds=3 * PATIENCE)
        assert _history(site.database) == History(lost=[], doubled=[], unrecorded=[], open_jobs=0, broken_at=None)
        with site.database.read() as session:
            epochs = list(session.scalars(select(Job.epoch)))
    assert len(epochs) == SUBMISSIONS
    assert sum(epochs) > SUBMISSIONS, "no kill hit a worker at work: the test has shown nothing"


def test_the_job_of_a_killed_worker_is_scored_again_when_its_lease_is_over(database_url: str, tmp_path: Path) -> None:
    with _site(database_url, tmp_path) as site:
        victim = _hold_job(site, tmp_path)
        site.start_worker()
        site.kill(victim)
        site.wait_for("SELECT count(*) FROM scores", 1)
        assert _history(site.database) == History(lost=[], doubled=[], unrecorded=[], open_jobs=0, broken_at=None)


def test_one_and_a_half_leases_of_sixty_seconds_are_enough_for_that() -> None:
    assert 60 + schedule.RELEASE_SECONDS + LOOK_SECONDS < 90


def _hold_job(site: WorkerSite, tmp_path: Path) -> Any:
    """Return a worker in the middle of a job, which comes to its end when the file is removed."""
    hold = tmp_path / "hold"
    hold.touch()
    worker = site.start_worker(Manner(hold=str(hold)))
    site.wait_for_board()
    site.submit(range(1))
    site.wait_for("SELECT count(*) FROM queue WHERE state = 'running'", 1)
    return worker


def test_a_worker_that_was_stopped_through_its_lease_is_refused_when_it_goes_on(
    database_url: str, tmp_path: Path
) -> None:
    with _site(database_url, tmp_path) as site:
        stopped = _hold_job(site, tmp_path)
        site.stop_outside_transactions(stopped)
        site.start_worker()
        site.wait_for("SELECT count(*) FROM scores", 1)
        (tmp_path / "hold").unlink()
        os.kill(stopped.pid, signal.SIGCONT)
        until(lambda: "job.lease_lost" in site.log.read_text(), PATIENCE, what="the first worker is refused")
        assert _history(site.database) == History(lost=[], doubled=[], unrecorded=[], open_jobs=0, broken_at=None)


def test_a_worker_told_to_stop_finishes_its_job_first(database_url: str, tmp_path: Path) -> None:
    with _site(database_url, tmp_path, lease=60) as site:
        worker = _hold_job(site, tmp_path)
        os.kill(worker.pid, signal.SIGTERM)
        (tmp_path / "hold").unlink()
        worker.join(PATIENCE)
        assert worker.exitcode == 0, site.log.read_text()
        assert _history(site.database) == History(lost=[], doubled=[], unrecorded=[], open_jobs=0, broken_at=None)
        site.wait_for("SELECT count(*) FROM workers", 0)  # it said goodbye
        site.wait_for("SELECT max(length(body)) > 0 FROM snapshots", True)
