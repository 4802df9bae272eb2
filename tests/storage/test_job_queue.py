"""The queue: one holder per job, and nobody writes after the lease was given away."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, leases, worker_heartbeats
from storage.jobs.job_queue import JobProgress
from storage.jobs.leases import MAX_ATTEMPTS, LeaseLost, release_expired
from storage.labels import label_sets
from storage.models.queue import Job
from tests.databases import submitted, with_labels
from vlrb.common.translations import translations


def _queued(database: Database, count: int) -> list[str]:
    with_labels(database)
    ids = submitted(database, count)
    with database.write() as session:
        for name in ids:
            assert job_queue.enqueue_current(session, name)
    return ids


def _claim(database: Database, worker: str = "w", *, lease: float = 60.0) -> Job | None:
    with database.write() as session:
        return job_queue.claim(session, worker, lease_seconds=lease)


def _finish(database: Database, claim: Job) -> None:
    with database.write() as session:
        leases.finish(session, claim)


def _states(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(Job.state).order_by(Job.id)))


def _taken(database: Database, **options: object) -> Job:
    claim = _claim(database, **options)  # type: ignore[arg-type]
    assert claim is not None
    return claim


def test_two_workers_never_take_the_same_job(database: Database) -> None:
    ids = _queued(database, 60)

    def take_all(worker: str) -> list[str]:
        taken = []
        while (claim := _claim(database, worker)) is not None:
            taken.append(claim.submission_id)
        return taken

    with ThreadPoolExecutor(4) as pool:
        shares = list(pool.map(take_all, ("a", "b", "c", "d")))
    assert sorted(name for share in shares for name in share) == sorted(ids)


def test_a_worker_takes_only_what_it_can_score(database: Database) -> None:
    _queued(database, 1)
    with database.write() as session:
        assert job_queue.claim(session, "w", lease_seconds=60, revisions={"demo": ("other",)}) is None
        assert (
            job_queue.claim(session, "w", lease_seconds=60, revisions={"demo": ("demo",)}, scorer_version="2") is None
        )
        assert (
            job_queue.claim(session, "w", lease_seconds=60, revisions={"demo": ("demo",)}, scorer_version="1")
            is not None
        )


def test_an_expired_lease_goes_to_another_and_the_first_holder_is_refused(database: Database) -> None:
    _queued(database, 1)
    slow = _taken(database, worker="slow", lease=0.05)
    time.sleep(0.1)
    with database.read() as session:
        assert leases.any_expired(session)
    with database.write() as session:
        assert release_expired(session) == 1
    quick = _taken(database, worker="quick")
    assert (quick.submission_id, quick.epoch) == (slow.submission_id, slow.epoch + 1)
    with pytest.raises(LeaseLost):
        _finish(database, slow)
    with database.write() as session:
        assert not leases.extend(session, slow, seconds=60)
    _finish(database, quick)
    assert _states(database) == ["done"]


def test_a_refused_finish_takes_everything_in_its_transaction_with_it(database: Database) -> None:
    _queued(database, 1)
    claim = _taken(database)
    _finish(database, claim)

    def record_and_finish() -> None:
        with database.write() as session:
            audit.append(session, "submission.scored", data={})
            leases.finish(session, claim)

    with database.read() as session:
        before = audit.head(session)
    with pytest.raises(LeaseLost):
        record_and_finish()
    with database.read() as session:
        assert audit.head(session) == before


def test_a_job_that_kills_its_workers_is_given_up_after_five(database: Database) -> None:
    (submission,) = _queued(database, 1)
    for _ in range(MAX_ATTEMPTS):
        _taken(database, lease=0.001)
        time.sleep(0.02)
        with database.write() as session:
            assert release_expired(session) == 1
    assert _states(database) == ["failed"]
    with database.read() as session:
        progress = job_queue.progress(session, submission)
        assert audit.verify(session) is None
    assert progress == JobProgress("failed", None, eta_seconds=None, reason=leases.GAVE_UP)
    assert "故障" in translations("zh-CN").text(progress.reason)
    assert "not of the file" in progress.reason


def test_gaps_are_filled_once_and_only_for_the_benchmark_of_the_labels(database: Database) -> None:
    _queued(database, 3)
    submitted(database, 2, benchmark="another", owner="x")
    with database.write() as session:
        label_sets.register(session, "r2", benchmark="demo", digest="c" * 64, items=10)
    with database.read() as session:
        assert job_queue.has_missing(session, "demo", label_revision="r2", scorer_version="1")
    with database.write() as session:
        assert job_queue.enqueue_missing(session, "demo", label_revision="r2", scorer_version="1") == 3
        assert job_queue.enqueue_missing(session, "demo", label_revision="r2", scorer_version="1") == 0
        assert job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version="1") == 0


def test_before_the_first_worker_nothing_is_queued_and_progress_says_so(database: Database) -> None:
    (submission,) = submitted(database, 1)
    with database.write() as session:
        assert not job_queue.enqueue_current(session, submission)
    with database.read() as session:
        assert job_queue.progress(session, submission) == JobProgress("queued", None, eta_seconds=None, reason="")
        with pytest.raises(LookupError):
            job_queue.progress(session, "eaaaaaaaaaaa")


def test_progress_tells_state_position_and_a_measured_estimate(database: Database) -> None:
    ids = _queued(database, 4)

    def stages() -> list[tuple[str, int | None]]:
        with database.read() as session:
            found = [job_queue.progress(session, name) for name in ids]
        return [(progress.state, progress.position) for progress in found]

    with database.read() as session:
        assert job_queue.progress(session, ids[3]).eta_seconds is None  # nothing was measured yet
    assert stages() == [("queued", 1), ("queued", 2), ("queued", 3), ("queued", 4)]
    first = _taken(database)
    assert stages() == [("scoring", None), ("queued", 1), ("queued", 2), ("queued", 3)]
    time.sleep(0.2)
    _finish(database, first)
    assert stages() == [("scored", None), ("queued", 1), ("queued", 2), ("queued", 3)]
    with database.read() as session:
        alone = job_queue.progress(session, ids[3]).eta_seconds
        took = session.scalars(select(Job.finished_at - Job.started_at).where(Job.state == "done")).one()
    assert took is not None and took >= 0.19
    assert alone == pytest.approx(3 * took)
    with database.write() as session:
        for worker in ("a", "b", "c"):
            worker_heartbeats.record_heartbeat(session, worker)
    with database.read() as session:
        assert job_queue.progress(session, ids[3]).eta_seconds == pytest.approx((alone or 0) / 3)


def test_a_wrong_clock_on_a_worker_changes_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    _queued(database, 1)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    claim = _taken(database, lease=3000)
    with database.write() as session:
        assert release_expired(session) == 0
        lease = session.execute(
            select(Job.lease_until - job_queue.database_now()).where(Job.id == claim.id)
        ).scalar_one()
    assert 2900 < lease <= 3000


def test_a_label_revision_cannot_change_its_labels(database: Database) -> None:
    with database.write() as session:
        assert label_sets.register(session, "r", benchmark="demo", digest="a" * 64, items=10)
        assert not label_sets.register(session, "r", benchmark="demo", digest="a" * 64, items=10)
        with pytest.raises(label_sets.LabelSetChanged):
            label_sets.register(session, "r", benchmark="demo", digest="b" * 64, items=10)


def test_the_board_points_on_record(database: Database) -> None:
    with_labels(database)
    with database.write() as session:
        label_sets.register(session, "r2", benchmark="demo", digest="b" * 64, items=10)
        before = audit.head(session).seq
        assert label_sets.activate_revision(session, "demo", label_revision="r2", scorer_version="1", reason="test")
        assert not label_sets.activate_revision(session, "demo", label_revision="r2", scorer_version="1", reason="test")
        assert audit.head(session).seq == before + 1
        pointer = label_sets.current(session, "demo")
    assert pointer == label_sets.ActiveBoard("demo", "r2", scorer_version="1", snapshot_id=None)
