"""Votes that were exchanged beside the service are counted by nobody: the result would be a true event."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from maintenance.actions import audit as actions_audit
from storage.database import Database
from storage.integrity import audit, integrity_alarms
from storage.integrity.integrity_alarms import RecordChanged
from storage.jobs import job_queue
from storage.models.core import Score, StoredRelations
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.jobs.snapshot import publish_if_changed
from workers.scorer import Scorer


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Database]:
    """Yield a board with three entries scored, whose rows anybody may change."""
    database = new_database(f"sqlite:///{tmp_path}/board.db")
    small_benchmark.prepare_board(database)
    small_benchmark.submit(database, range(3), queued=True)
    with sqlite3.connect(tmp_path / "board.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    connection.close()
    rescore(database, small_benchmark.scorer(), revision="demo")
    publish_if_changed(database, small_benchmark.scorer())
    yield database
    database.close()


def _votes(database: Database) -> list[tuple[str, bytes]]:
    return _run(database, "SELECT id, votes FROM submissions ORDER BY id")


def _run(database: Database, statement: str, *values: object) -> list[Any]:
    with sqlite3.connect(str(database.engine.url.database)) as connection:
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


def _store(database: Database, votes: list[tuple[str, bytes]]) -> None:
    for name, packed in votes:
        _run(database, "UPDATE submissions SET votes = ? WHERE id = ?", packed, name)


def _exchange(database: Database) -> None:
    (first, votes_of_first), (second, votes_of_second), *_ = _votes(database)
    _store(database, [(first, votes_of_second), (second, votes_of_first)])


def _compute(database: Database, scorer: Scorer) -> None:
    if compute_if_changed(database, scorer) == 0:
        raise RecordChanged


COMPUTATIONS: dict[str, Callable[[Database, Scorer], object]] = {
    "a revision is scored": lambda database, scorer: rescore(database, scorer, revision="flipped"),
    "judges are compared": _compute,
}


@pytest.mark.parametrize("computation", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_what_computes_from_exchanged_votes_is_refused_with_an_alarm(
    board: Database, scorer: Scorer, computation: Callable[[Database, Scorer], object]
) -> None:
    before = _votes(board)
    _exchange(board)
    with pytest.raises(RecordChanged):
        computation(board, scorer)
    _store(board, before)
    with board.read() as session:
        assert session.scalar(select(func.count()).select_from(Score)) == 3
        assert session.scalar(select(func.count()).select_from(StoredRelations)) == 0
        (alarm,) = audit.newest(session, [integrity_alarms.FAILED])
        assert "submissions" in alarm.body["named"][0]
    assert actions_audit.verify(by(board, MAINTAINER)).ok
    computation(board, scorer)


def test_a_submission_whose_votes_were_exchanged_is_not_scored_and_says_why(board: Database, scorer: Scorer) -> None:
    (name,) = small_benchmark.submit(board, range(3, 4), queued=True)
    _store(board, [(name, small_benchmark.votes(0).pack())])
    assert score_next(board, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.FAILED
    assert score_next(board, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.NOTHING_TO_DO
    with board.read() as session:
        progress = job_queue.progress(session, name)
    assert (progress.state, progress.reason) == ("failed", str(RecordChanged()))


def test_judges_are_not_compared_where_a_stored_score_is_not_that_of_the_votes(board: Database, scorer: Scorer) -> None:
    """So the differences that relations say are those of the scores beside them."""
    tallies = _run(board, "SELECT tally FROM scores WHERE label_revision = 'demo' ORDER BY id")
    assert len({tally for (tally,) in tallies}) > 1
    _run(board, "UPDATE scores SET tally = (SELECT tally FROM scores ORDER BY id LIMIT 1)")
    assert compute_if_changed(board, scorer) == 0
    with board.read() as session:
        (alarm,) = audit.newest(session, [integrity_alarms.FAILED])
    assert alarm.body["named"][0].startswith("scores")
