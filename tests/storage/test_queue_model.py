"""The queue against a model of it in plain Python: whatever happens in whatever order, both say the same."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule
from sqlalchemy import select, text

from storage.integrity import audit
from storage.jobs import job_queue, leases
from storage.jobs.leases import MAX_ATTEMPTS, LeaseLost, release_expired
from storage.models.queue import Job
from tests.databases import a_submission, new_database, with_labels

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"


@dataclass
class Modelled:
    """What a job should be."""

    state: str = QUEUED
    epoch: int = 0
    attempts: int = 0
    priority: int = job_queue.URGENT

    def held_by(self, claim: Job) -> bool:
        return self.state == RUNNING and self.epoch == claim.epoch


class Queue(RuleBasedStateMachine):
    """Submitters, workers that crash or sleep, anyone who releases leases, maintainers who re-score or retry."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.database = new_database(f"sqlite:///{self.folder.name}/queue.db")
        with_labels(self.database)
        # In the order of their numbers. Rules draw from it in this order: ids are random, and the same draw must mean
        # the same job every time, or Hypothesis finds that the test contradicts itself.
        self.jobs: dict[str, Modelled] = {}

    def teardown(self) -> None:
        with self.database.read() as session:  # what breaks the chain at some step breaks it for good
            assert audit.verify(session) is None
        self.database.close()
        self.folder.cleanup()

    @rule(priority=st.sampled_from([job_queue.URGENT, job_queue.BACKFILL]))
    def submit(self, priority: int) -> None:
        with self.database.write() as session:
            row = a_submission(len(self.jobs))
            session.add(row)
            session.flush()
            job_queue.enqueue(session, row.id, label_revision="demo", scorer_version="1", priority=priority)
            self.jobs[row.id] = Modelled(priority=priority)

    @rule(target=claims)
    def claim(self) -> object:
        with self.database.write() as session:
            taken = job_queue.claim(session, "w", lease_seconds=600)
        waiting = [name for name, job in self.jobs.items() if job.state == QUEUED]
        if not waiting:
            assert taken is None
            return multiple()
        first = min(waiting, key=lambda name: self.jobs[name].priority)  # the first of those that are equal
        job = self.jobs[first]
        job.state, job.epoch, job.attempts = RUNNING, job.epoch + 1, job.attempts + 1
        assert taken is not None
        assert (taken.submission_id, taken.epoch, taken.attempts) == (first, job.epoch, job.attempts)
        return taken

    @rule(claim=claims)
    def heartbeat(self, claim: Job) -> None:
        with self.database.write() as session:
            assert leases.extend(session, claim, seconds=600) == self.jobs[claim.submission_id].held_by(claim)

    @rule(claim=claims)
    def finish(self, claim: Job) -> None:
        job = self.jobs[claim.submission_id]
        if not job.held_by(claim):
            with pytest.raises(LeaseLost), self.database.write() as session:
                leases.finish(session, claim)
            return
        with self.database.write() as session:
            leases.finish(session, claim)
        job.state = DONE

    @rule(claim=claims, retry=st.booleans())
    def fail(self, claim: Job, retry: bool) -> None:
        job = self.jobs[claim.submission_id]
        if not job.held_by(claim):
            with pytest.raises(LeaseLost), self.database.write() as session:
                leases.fail(session, claim, outcome="reason", retry=retry)
            return
        with self.database.write() as session:
            told = leases.fail(session, claim, outcome="reason", retry=retry)
        job.state = QUEUED if retry and claim.attempts < MAX_ATTEMPTS else FAILED
        assert told.value == job.state

    @rule(share=st.integers(1, 3))
    def crash_and_release(self, share: int) -> None:
        """Some of those at work are gone: their leases end, and somebody gives the jobs back."""
        gone = [name for name, job in self.jobs.items() if job.state == RUNNING][::share]
        with self.database.write() as session:
            for name in gone:
                session.execute(text("UPDATE queue SET lease_until = 1 WHERE submission_id = :name"), {"name": name})
        with self.database.write() as session:
            assert leases.any_expired(session) == bool(gone)
            assert release_expired(session) == len(gone)
        for name in gone:
            self.jobs[name].state = QUEUED if self.jobs[name].attempts < MAX_ATTEMPTS else FAILED

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def score_in_bulk(self, data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(list(self.jobs)), unique=True, max_size=4))
        with self.database.write() as session:
            job_queue.mark_done_in_bulk(
                session, "demo", submission_ids=names, label_revision="demo", scorer_version="1"
            )
        for name in names:
            job = self.jobs[name]
            if job.state != DONE:
                job.state, job.epoch = DONE, job.epoch + 1

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def try_a_failed_one_again(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.jobs)))
        job = self.jobs[name]
        with self.database.write() as session:
            number = session.scalars(select(Job.id).where(Job.submission_id == name)).one()
            assert job_queue.requeue(session, number) == (job.state == FAILED)
        if job.state == FAILED:
            job.state, job.attempts, job.priority = QUEUED, 0, job_queue.URGENT

    @invariant()
    def the_table_is_what_the_model_says(self) -> None:
        with self.database.read() as session:
            found = {
                job.submission_id: Modelled(job.state, job.epoch, attempts=job.attempts, priority=job.priority)
                for job in session.scalars(select(Job).order_by(Job.id))
            }
        assert found == self.jobs
        assert list(found) == list(self.jobs)


Queue.TestCase.settings = settings(
    max_examples=12, stateful_step_count=40, suppress_health_check=list(HealthCheck), print_blob=True
)
TestQueue = pytest.mark.slow(Queue.TestCase)
