"""Everything under another label revision: the same counts as one by one, resumable, on record."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, leases
from storage.jobs.leases import LeaseLost
from storage.models.core import AuditEvent, Score
from storage.models.queue import Job
from tests.factories import small_benchmark
from tests.factories.specs import VL
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import Tally
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.scorer import Scorer


def _scores(database: Database, revision: str) -> dict[str, str]:
    with database.read() as session:
        rows = session.execute(select(Score.submission_id, Score.tally).where(Score.label_revision == revision))
        return {row.submission_id: row.tally for row in rows}


def test_bulk_scores_are_those_of_the_single_job(ready: Database, scorer: Scorer) -> None:
    for k, start in ((1, 0), (3, 10), (16, 20)):
        small_benchmark.submit(ready, range(start, start + 7), k=k)
    with ready.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION)
    while score_next(ready, [scorer], worker="w", lease_seconds=60) is not ScoringOutcome.NOTHING_TO_DO:
        pass
    one_by_one = _scores(ready, "demo")
    assert rescore(ready, scorer, revision="flipped", chunk=4) == 21
    in_bulk = _scores(ready, "flipped")
    assert set(in_bulk) == set(one_by_one)
    for name, stored in in_bulk.items():
        flipped, straight = (Tally.from_json(json.loads(text), VL).counts[:7] for text in (stored, one_by_one[name]))
        assert flipped[:, [2, 1]].tolist() == straight[:, [1, 2]].tolist()  # what agreed is rejected, and so on
        assert flipped[:, [0, 3]].tolist() == straight[:, [0, 3]].tolist()
    assert rescore(ready, scorer, revision="demo") == 0


def test_an_interrupted_run_goes_on_where_it_stopped(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(10))
    seen: list[int] = []

    def lose_the_lease_at_last(session: Session, done: int) -> None:
        seen.append(done)
        if len(seen) == 3:
            raise LeaseLost

    with pytest.raises(LeaseLost):
        rescore(ready, scorer, revision="flipped", chunk=3, first=lose_the_lease_at_last)
    assert (seen, len(_scores(ready, "flipped"))) == ([3, 6, 9], 6)
    assert rescore(ready, scorer, revision="flipped", chunk=3) == 4
    assert rescore(ready, scorer, revision="flipped", chunk=3) == 0
    with ready.read() as session:
        bodies = session.scalars(
            select(AuditEvent.body).where(AuditEvent.kind == "scores.recorded").order_by(AuditEvent.seq)
        )
        events = [json.loads(body) for body in bodies]
        assert audit.verify(session) is None
    assert [event["scores"] for event in events] == [3, 3, 3, 1]
    commitments = [one for event in events for one in event["commitments"]]
    assert len(set(commitments)) == len(commitments) == 10  # one for each score
    assert not any({"first", "last", "entries"} & set(event) for event in events)  # and no entry is named


def test_a_worker_in_the_middle_of_a_job_does_not_score_it_a_second_time(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(3))
    with ready.write() as session:
        job_queue.enqueue_missing(session, "demo", label_revision="demo", scorer_version=SCORER_VERSION)
        claim = job_queue.claim(session, "w", lease_seconds=60)
    assert claim is not None
    assert rescore(ready, scorer, revision="demo") == 3
    with pytest.raises(LeaseLost), ready.write() as session:
        leases.finish(session, claim)
    assert score_next(ready, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.NOTHING_TO_DO
    with ready.read() as session:
        assert session.execute(select(func.count()).select_from(Score)).scalar_one() == 3
        assert set(session.scalars(select(Job.state))) == {"done"}


def test_one_bad_submission_does_not_stop_the_others(ready: Database, scorer: Scorer) -> None:
    (bad,) = small_benchmark.submit(ready, range(1), items=20)  # votes of another benchmark's size
    small_benchmark.submit(ready, range(1, 4))
    assert small_benchmark.switch_board(ready, scorer, revision="flipped", reason="test") == 3
    assert score_next(ready, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.FAILED
    with ready.read() as session:
        assert session.scalars(select(Job.submission_id).where(Job.state != "done")).one() == bad
