"""Workers that start at once, and one submission: claimed, counted, recorded once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select, text

from storage.database import Database, migrate, open_database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.jobs.leases import release_expired
from storage.models.core import AuditEvent, Score
from storage.models.queue import Job
from tests.factories import small_benchmark
from tests.factories.specs import VL
from vlrb.behaviour import behaviour_of
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import Tally
from workers.jobs.score import ScoringOutcome, score_next
from workers.scorer import Scorer
from workers.startup import prepare


def test_two_workers_may_start_at_once_on_an_empty_database(database_url: str, scorer: Scorer) -> None:
    databases = [open_database(database_url) for _ in range(3)]

    def start(database: Database) -> None:
        migrate(database)
        prepare(database, scorer, label_revision="demo")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(start, databases))
    with databases[0].read() as session:
        kinds = list(session.scalars(select(AuditEvent.kind)))
        assert audit.verify(session) is None
    assert sorted(kinds) == ["board.pointed", "labels.registered", "labels.registered"]
    for one in databases:
        one.close()


def _score_all(database: Database, scorer: Scorer) -> list[ScoringOutcome]:
    outcomes = []
    while (outcome := score_next(database, [scorer], worker="w", lease_seconds=60)) is not ScoringOutcome.NOTHING_TO_DO:
        outcomes.append(outcome)
    return outcomes


def _right(text_: str) -> int:
    counted = Tally.from_json(json.loads(text_), VL)
    return int(counted.counts[:7, 1].sum())


def test_every_submission_is_scored_once_under_every_revision(ready: Database, scorer: Scorer) -> None:
    ids = small_benchmark.submit(ready, range(4))
    with ready.write() as session:
        assert job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION) == 4
        assert job_queue.enqueue_missing(session, "demo", label_revision="flipped", scorer_version=SCORER_VERSION) == 4
    assert _score_all(ready, scorer) == [ScoringOutcome.SCORED] * 8
    with ready.read() as session:
        scores = {(s.submission_id, s.label_revision): _right(s.tally) for s in session.scalars(select(Score))}
        assert audit.verify(session) is None
        kinds = list(session.scalars(select(AuditEvent.kind)))
    expected = {
        (name, revision): small_benchmark.right(number, flip=revision == "flipped")
        for number, name in enumerate(ids)
        for revision in ("demo", "flipped")
    }
    assert scores == expected
    assert kinds.count("submission.scored") == 8


def test_nothing_that_tells_a_label_is_stored(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(1))
    with ready.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION)
    _score_all(ready, scorer)
    with ready.read() as session:
        (stored,) = session.scalars(select(Score.tally))
        bodies = list(session.scalars(select(AuditEvent.body)))
    tally = json.loads(stored)
    assert set(tally) == {"k", "counts", "agreeing", "has_tags", "behaviour"}  # counts and rates, nothing per item
    assert all("agree" not in body and "preferred" not in body for body in bodies)


def test_the_behaviour_on_the_pairs_of_each_revision_is_stored_with_its_counts(ready: Database, scorer: Scorer) -> None:
    names = small_benchmark.submit(ready, range(2))
    with ready.write() as session:
        for revision in ("demo", "flipped"):
            job_queue.enqueue_missing(session, "demo", label_revision=revision, scorer_version=SCORER_VERSION)
    _score_all(ready, scorer)
    with ready.read() as session:
        stored = {
            (s.submission_id, s.label_revision): json.loads(s.tally)["behaviour"]
            for s in session.scalars(select(Score))
        }
    for number, name in enumerate(names):
        for revision, labels in scorer.labels.items():
            votes, orders = small_benchmark.votes(number), small_benchmark.orders() if number else None
            expected = behaviour_of(votes, orders, preferred=labels.preferred, table=scorer.table)
            assert stored[name, revision] == json.loads(json.dumps(expected.to_json()))
            assert (expected.position_bias is None) == (orders is None)


def test_a_worker_that_lost_its_lease_records_nothing(ready: Database, scorer: Scorer) -> None:
    (submission,) = small_benchmark.submit(ready, range(1))
    with ready.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION)

    def another_takes_over(claim: object) -> None:
        if claim is not None:
            with ready.write() as session:
                session.execute(text("UPDATE queue SET lease_until = 0"))
                release_expired(session)
                assert job_queue.claim(session, "another", lease_seconds=60) is not None

    assert (
        score_next(ready, [scorer], worker="w", lease_seconds=60, hold=another_takes_over) is ScoringOutcome.LEASE_LOST
    )
    with ready.read() as session:
        assert session.scalars(select(Score)).all() == []
        assert session.scalars(select(Job.worker)).one() == "another"
        assert job_queue.progress(session, submission).state == "scoring"
        assert "submission.scored" not in session.scalars(select(AuditEvent.kind)).all()


def test_one_bad_submission_does_not_stop_the_others(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(1), items=20)  # votes of another benchmark's size
    (good,) = small_benchmark.submit(ready, range(1, 2))
    with ready.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION)
    assert sorted(outcome.name for outcome in _score_all(ready, scorer)) == ["FAILED"] * 5 + ["SCORED"]
    with ready.read() as session:
        assert session.scalars(select(Score.submission_id)).one() == good
