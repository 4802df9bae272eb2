"""Worker loop: claim and score, or sleep, until stopped.

A turn that fails because the database is away is tried again after a pause; what it had claimed is scored again when
its lease is over, by the next free worker.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import exists, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from storage import visibility
from storage.changes import LOOK_SECONDS
from storage.database import Database
from storage.database_wait import log_away
from storage.jobs import job_queue, leases, worker_heartbeats
from storage.models.queue import Job, State
from workers.jobs import pairwise_statistics, snapshot
from workers.jobs.score import ScoringOutcome, score_next, served_revisions
from workers.scorer import Scorer

LISTENING_SECONDS = 10.0  # between two looks where no change is seen
TROUBLE_SECONDS = 2.0

log = logging.getLogger(__name__)


def worker_name() -> str:
    """Return a name for this process: machine, process id, and what distinguishes it from an earlier one with that
    id."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


class CurrentJob:
    """The job being worked on, shared with the thread that keeps its lease."""

    def __init__(self) -> None:
        self._claim: Job | None = None

    def set(self, claim: Job | None) -> None:
        self._claim = claim

    def get(self) -> Job | None:
        return self._claim


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker process: its name, what it works on, and what it works with.

    `scorers`: one for each benchmark, all of one version. `available_revisions`: benchmark -> label revisions that it
    could score under; None: those of its scorers.
    """

    database: Database
    scorers: Sequence[Scorer]
    lease_seconds: float
    name: str = field(default_factory=worker_name)
    held: CurrentJob = field(default_factory=CurrentJob)
    available_revisions: Callable[[Session], Mapping[str, Collection[str]]] | None = None

    @property
    def version(self) -> str:
        """The scorer version that it counts by."""
        return self.scorers[0].version

    def work(self) -> ScoringOutcome:
        """Score one submission, if one waits; return the outcome."""
        return score_next(
            self.database, self.scorers, worker=self.name, lease_seconds=self.lease_seconds, hold=self.held.set
        )

    def heartbeat(self) -> None:
        """Say that this worker is alive and which labels it holds, and keeps the lease of what it works on."""
        claim = self.held.get()
        with self.database.write() as session:
            worker_heartbeats.record_heartbeat(session, self.name, scorer_version=self.version)
            # After the beat, which locks our row: what is imported meanwhile is seen here, or added after us.
            held: Mapping[str, Collection[str]] = {scorer.benchmark: scorer.revisions for scorer in self.scorers}
            held = self.available_revisions(session) if self.available_revisions else held
            worker_heartbeats.set_loaded_revisions(session, self.name, revisions=held)
            if claim is not None:
                leases.extend(session, claim, seconds=self.lease_seconds)

    def leave(self) -> None:
        """Say goodbye."""
        with self.database.write() as session:
            worker_heartbeats.remove(session, self.name)

    def release_expired(self) -> int:
        """Give back jobs, tasks and e-mails whose process is gone; writes only where there is one."""
        with self.database.read() as session:
            if not leases.any_expired(session):
                return 0
        with self.database.write() as session:
            released = leases.release_expired(session)
        log.warning("queue.released", extra={"data": {"rows": released}})
        return released

    def enqueue_missing(self) -> int:
        """Add jobs for submissions that lack one under a label revision of ours; writes only where there is one."""
        version, added = self.version, 0
        with self.database.read() as session:
            served = served_revisions(session, self.scorers)
        for benchmark, revision in ((name, revision) for name, held in served.items() for revision in held):
            with self.database.read() as session:
                if not job_queue.has_missing(session, benchmark, label_revision=revision, scorer_version=version):
                    continue
            with self.database.write() as session:
                added += job_queue.enqueue_missing(session, benchmark, label_revision=revision, scorer_version=version)
        return added

    def end_anonymity(self) -> int:
        """End every anonymity whose day has come; the next snapshot shows it. Writes only where there is one."""
        with self.database.read() as session:
            if not visibility.has_due(session):
                return 0
        with self.database.write() as session:
            return visibility.reveal_due(session)

    def publish_snapshot(self, *, anew: bool = False) -> str | None:
        """Publish a snapshot of each board that has changed, or (`anew`) that this release would write otherwise.

        Return the id of the last one, None without any.
        """
        published = [snapshot.publish_if_changed(self.database, scorer, anew=anew) for scorer in self.scorers]
        return next((name for name in reversed(published) if name is not None), None)

    def compute_pairwise(self) -> int:
        """Compute what judges are to each other if the published entries have changed; the next snapshot shows it."""
        return sum(pairwise_statistics.compute_if_changed(self.database, scorer) for scorer in self.scorers)

    def has_open_jobs(self) -> bool:
        """Return whether a job that this worker could do waits or runs, here or elsewhere."""
        with self.database.read() as session:
            open_job = exists().where(
                Job.state.in_((State.QUEUED.value, State.RUNNING.value)),
                job_queue.of_revisions(served_revisions(session, self.scorers)),
                Job.scorer_version == self.version,
            )
            return bool(session.execute(select(open_job)).scalar_one())


def run(
    worker: Worker,
    should_stop: Callable[[], bool],
    *,
    rest: Callable[[float], object],
    changes: Callable[[], object] = lambda: None,
) -> int:
    """Run until stopped; `rest` waits so many seconds, less at a stop. Return the number of scored turns.

    `changes`: of storage/changes.py. Where there is nothing to do, one is waited for.
    """
    scored = 0
    while not should_stop():
        before = changes()
        try:
            outcome = worker.work()
        except SQLAlchemyError as error:
            if not log_away(error):
                log.exception("worker.database_trouble")
            rest(TROUBLE_SECONDS)
            continue
        scored += outcome is ScoringOutcome.SCORED
        if outcome is ScoringOutcome.NOTHING_TO_DO:
            end = time.monotonic() + LISTENING_SECONDS
            rest(LOOK_SECONDS)
            while before is not None and changes() == before and time.monotonic() < end and not should_stop():
                rest(LOOK_SECONDS)
    return scored


def drain(worker: Worker, should_stop: Callable[[], bool], *, rest: Callable[[float], object]) -> int:
    """Work until no job waits or runs anywhere; wait for the jobs of a worker that died. Return the turns scored."""
    scored = 0
    worker.enqueue_missing()
    while not should_stop() and worker.has_open_jobs():
        outcome = worker.work()
        scored += outcome is ScoringOutcome.SCORED
        if outcome is ScoringOutcome.NOTHING_TO_DO and worker.release_expired() == 0:
            rest(LOOK_SECONDS)
    worker.end_anonymity()
    worker.publish_snapshot()
    while worker.compute_pairwise():  # of another board it waits for a newer snapshot
        worker.publish_snapshot()
    return scored
