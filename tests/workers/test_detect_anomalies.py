"""Detection: what strikes is stored once, for maintainers, and changes nothing that anybody else sees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from benchmark import anomalies
from benchmark.votes import Votes
from storage import visibility
from storage.anomalies import reset
from storage.database import Database
from storage.integrity import audit
from storage.labels import label_sets
from storage.models.anomalies import AnomalyCase
from storage.models.core import AuditEvent, Score, Submission
from tests.databases import a_submission
from workers.jobs.detect_anomalies import AnomalyDetector, _scored_since, detect_if_changed
from workers.runner import Worker, drain

ITEMS = 21
LABELS = np.array([i % 2 for i in range(ITEMS)], dtype=np.int8)


def entry(database: Database, number: int, *, votes: np.ndarray, **changes: Any) -> str:
    """Return a submission with one vote an item; later numbers are later."""
    with database.write() as session:
        row = a_submission(
            number,
            **{"votes": Votes(votes.reshape(ITEMS, 1)).pack(), "votes_per_item": 1, "owner": f"owner {number}"}
            | {"created_at": 1_700_000_000.0 + number}
            | changes,
        )
        session.add(row)
        session.flush()
        return row.id


def right_on(*items: int) -> np.ndarray:
    """Right on these items, wrong elsewhere."""
    votes = 1 - LABELS
    votes[list(items)] = LABELS[list(items)]
    return votes


def found(database: Database) -> list[tuple[str, str, str, dict[str, Any]]]:
    with database.read() as session:
        columns = (AnomalyCase.submission_id, AnomalyCase.kind, AnomalyCase.subject, AnomalyCase.evidence)
        return [tuple(row) for row in session.execute(select(*columns).order_by(AnomalyCase.id))]


def run(worker: Worker) -> None:
    drain(worker, lambda: False, rest=lambda seconds: None)


def test_a_copy_with_two_flips_is_flagged_once_and_the_entry_that_it_copies_is_not(worker: Worker) -> None:
    first = entry(worker.database, 1, votes=right_on(*range(0, 12)))
    copy = entry(worker.database, 2, votes=right_on(*range(1, 11)))
    entry(worker.database, 3, votes=right_on(*range(10, 21)))
    run(worker)
    assert found(worker.database) == [
        (
            copy,
            "near-duplicate",
            first,
            {"items_that_differ": 2, "items": ITEMS, "same_account": False, "entries_that_near": 1},
        )
    ]


def test_looking_again_and_in_another_process_finds_nothing_new(worker: Worker) -> None:
    for number in (1, 2):
        entry(worker.database, number, votes=right_on(3, 4, 5))
    run(worker)
    before = found(worker.database)
    assert len(before) == 1
    assert worker.detect_anomalies() == 0
    assert detect_if_changed(worker.database, worker.scorer, watcher=AnomalyDetector()) == 0
    with worker.database.write() as session:
        assert reset(session) == 1
    assert found(worker.database) == []
    assert detect_if_changed(worker.database, worker.scorer, watcher=AnomalyDetector()) == 1
    assert worker.detect_anomalies() == 0
    assert found(worker.database) == before


def test_a_fresh_look_is_noticed_by_a_worker_that_had_seen_everything(worker: Worker) -> None:
    for number in (1, 2):
        entry(worker.database, number, votes=right_on(3, 4, 5))
    run(worker)
    worker.detect_anomalies()
    with worker.database.write() as session:
        reset(session)
    assert worker.detect_anomalies() == 1


def test_far_above_the_best_known_is_flagged_against_entries_and_against_the_literature(worker: Worker) -> None:
    entry(worker.database, 1, votes=right_on(*range(0, 11)))
    run(worker)
    better = entry(worker.database, 2, votes=right_on(*range(3, 21)))
    run(worker)
    (only,) = found(worker.database)
    assert only[:3] == (better, "above-best-known", "demo")
    assert only[3]["overall"] == round(18 / 21, 3)
    assert only[3]["best_known"] == round(11 / 21, 3)
    with worker.database.write() as session:
        reset(session)
    assert detect_if_changed(worker.database, worker.scorer, watcher=AnomalyDetector(best_reported=0.8441)) == 0


def test_what_the_file_said_of_its_texts_is_looked_at(worker: Worker) -> None:
    report = {"ok": True, "texts": {"identical_rate": 0.97, "empty_rate": 0.3}}
    name = entry(worker.database, 1, votes=right_on(1, 2, 3), report=report)
    run(worker)
    assert {(one[0], one[1]) for one in found(worker.database)} == {(name, "identical-texts"), (name, "empty-texts")}


def test_evidence_has_no_more_than_rounded_shares_and_nothing_public_changes(worker: Worker) -> None:
    for number in range(4):
        entry(worker.database, number, votes=LABELS.copy())
    run(worker)
    kinds = {one[1] for one in found(worker.database)}
    assert kinds == {"near-equal-categories", "near-duplicate"}
    for *_, evidence in found(worker.database):
        for value in evidence.values():
            assert isinstance(value, bool | int) or value == round(value, 3)
    published = worker.publish_snapshot()
    assert published is None  # the flags were the last events, and none of them makes a snapshot
    with worker.database.read() as session:
        raised = session.scalars(select(AuditEvent.body).where(AuditEvent.kind == "suspicions.raised")).all()
        names = session.scalars(select(Submission.id)).all()
        assert session.execute(select(func.count()).select_from(Score)).scalar_one() == 8  # four under each revision
    assert raised
    assert not any(name in body for name in names for body in raised)


def test_an_entry_that_was_scored_unseen_is_looked_at_once_it_is_published(worker: Worker) -> None:
    first = entry(worker.database, 1, votes=right_on(*range(0, 12)))
    copy = entry(worker.database, 2, votes=right_on(*range(1, 11)))
    with worker.database.write() as session:
        visibility.request_approval(session, copy, shown=visibility.EntryVisibility(published=False), approval=False)
    run(worker)
    assert found(worker.database) == []
    with worker.database.write() as session:
        assert visibility.publish(session, copy)
    assert worker.detect_anomalies() == 1
    ((name, kind, subject, _),) = found(worker.database)
    assert (name, kind, subject) == (copy, "near-duplicate", first)


def test_public_labels_strike_where_other_labels_are_hidden_and_only_there(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anomalies, "LEAST_DECIDED", 10)  # the invented benchmark has 21 pairs
    copied = entry(worker.database, 1, votes=1 - LABELS)  # the complement tells as much
    run(worker)
    assert found(worker.database) == []
    with worker.database.write() as session:
        reset(session)
    run(replace(worker, scorer=replace(worker.scorer, hidden={"flipped": "categories"}), watcher=AnomalyDetector()))
    assert [one[:3] for one in found(worker.database)] == [(copied, "public-labels", "demo")]


def test_scores_that_the_board_does_not_show_yet_have_nobody_looked_at(worker: Worker) -> None:
    entry(worker.database, 1, votes=right_on(1, 2, 3))
    run(worker)
    with worker.database.write() as session:
        before = audit.head(session).seq
        staged = audit.append(session, audit.SCORES_RECORDED, data={"label_revision": "staged"})
        board = label_sets.current(session, "demo")
        assert board is not None
        assert _scored_since(session, before, pointer=board) == set()
        audit.append(session, audit.SCORES_RECORDED, data={"label_revision": board.label_revision})
        assert _scored_since(session, staged, pointer=board) is None
