"""Everything under another label revision: the same counts as one by one, resumable, on record."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, leases
from storage.jobs.job_queue import JobStage
from storage.jobs.leases import LeaseLost
from storage.labels import label_sets
from storage.models.core import AuditEvent, Score, Submission
from storage.models.queue import Job
from tests.factories import small_benchmark
from tests.factories.specs import VL
from vlrb.behaviour import behaviour_of
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import Tally, tally
from workers.jobs import rescore as jobs_rescore
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


def test_the_bytes_are_those_of_the_single_job(ready: Database, scorer: Scorer) -> None:
    ids = small_benchmark.submit(ready, range(5))
    rescore(ready, scorer, revision="demo")
    in_bulk = _scores(ready, "demo")
    labels, table = scorer.labels["demo"], scorer.table
    for number, name in enumerate(ids):
        votes, orders = small_benchmark.votes(number), small_benchmark.orders() if number % 2 else None
        behaviour = behaviour_of(votes, orders, preferred=labels.preferred, table=table)
        assert in_bulk[name] == jobs_rescore.tally_text(tally(votes, labels, table=table), behaviour)


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


def test_the_board_moves_in_one_step_on_record_and_entries_keep_their_ids(ready: Database, scorer: Scorer) -> None:
    ids = small_benchmark.submit(ready, range(3))
    assert small_benchmark.switch_board(ready, scorer, revision="flipped", reason="sixteen labels were wrong") == 3
    with ready.read() as session:
        board = label_sets.current(session, "demo")
        last = json.loads(session.scalars(select(AuditEvent.body).order_by(AuditEvent.seq.desc()).limit(1)).one())
        assert sorted(session.scalars(select(Submission.id))) == sorted(ids)
        assert all(job_queue.progress(session, name).state is JobStage.SCORED for name in ids)
    assert board is not None and (board.label_revision, board.rules) == ("flipped", scorer.rules)
    assert last["ev"] == "board.pointed"
    assert last["from"] == {"label_revision": "demo", "scorer_version": SCORER_VERSION}
    assert last["to"] == {"label_revision": "flipped", "scorer_version": SCORER_VERSION}
    assert last["reason"] == "sixteen labels were wrong"


def test_the_same_switch_twice_has_one_effect(ready: Database, scorer: Scorer) -> None:
    small_benchmark.submit(ready, range(3))
    small_benchmark.switch_board(ready, scorer, revision="flipped", reason="once")
    with ready.read() as session:
        before = audit.head(session)
    assert small_benchmark.switch_board(ready, scorer, revision="flipped", reason="twice") == 0
    with ready.read() as session:
        assert audit.head(session) == before


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
