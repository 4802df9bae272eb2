"""Two benchmarks in one database: each has its labels, jobs, scores, board, snapshots and events of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from sqlalchemy import select

from maintenance.decision_log import decisions
from storage.boards.snapshots import snapshot_at
from storage.database import Database
from storage.integrity import audit
from storage.integrity import integrity_check as integrity
from storage.jobs import tasks, worker_heartbeats
from storage.jobs.tasks import TaskConflict
from storage.models.core import Score
from storage.models.queue import Task
from submissions import queries
from tests.databases import fill_once, shown_board
from tests.factories import labels, small_benchmark
from tests.factories.specs import spec_of
from vlrb.benchmarks.pairs import build_table, label_set
from vlrb.scorecard import SCORER_VERSION
from web.actions import ACTIONS
from workers.runner import Worker, drain
from workers.scorer import Scorer
from workers.startup import prepare

OTHER = "other"


def _other_scorer() -> Scorer:
    """Return the same names of revisions as the demo has, with the labels the other way round, on other pairs."""
    items = build_table(spec_of(OTHER), {"demo": labels.pairs(2)})
    found = {
        name: label_set(small_benchmark.label_rows(items, flip=flip), name, table=items)
        for name, flip in (("demo", True), ("flipped", False))
    }
    return Scorer(items, found, version=SCORER_VERSION)


@dataclass(frozen=True)
class TwoBenchmarks:
    """A database with three entries of one benchmark and two of another, and the worker of both."""

    database: Database
    worker: Worker
    other: Scorer
    own_ids: list[str]
    other_ids: list[str]

    def drain(self) -> None:
        drain(self.worker, lambda: False, rest=lambda seconds: None)


@pytest.fixture
def two(database: Database) -> TwoBenchmarks:
    own_ids, other_ids = fill_once(database, _fill)
    return TwoBenchmarks(database, _worker(database), other=_other_scorer(), own_ids=own_ids, other_ids=other_ids)


def _worker(database: Database) -> Worker:
    return Worker(database, [small_benchmark.scorer(), _other_scorer()], lease_seconds=60)


def _fill(database: Database) -> tuple[list[str], list[str]]:
    small_benchmark.prepare_board(database)
    prepare(database, _other_scorer(), label_revision="demo")
    attempt = {"attempt": 1, "attempt_revision": "demo", "attempted_at": 1000.0}
    own_ids = small_benchmark.submit(database, range(3), queued=True, **attempt)
    other_ids = small_benchmark.submit(database, range(2), items=14, queued=True, benchmark=OTHER, **attempt)
    drain(_worker(database), lambda: False, rest=lambda seconds: None)
    return own_ids, other_ids


def test_one_worker_scores_each_benchmark_with_its_own_labels(two: TwoBenchmarks) -> None:
    two.worker.heartbeat()
    with two.database.read() as session:
        scores = session.scalars(select(Score).where(Score.label_revision == "demo")).all()
        assert not any(worker_heartbeats.no_worker_has(session, name, revision="demo") for name in ("demo", OTHER))
    right = {one.submission_id: sum(cell[1] for cell in json.loads(one.tally)["counts"][:7]) for one in scores}
    assert set(right) == {*two.own_ids, *two.other_ids}
    assert {one.submission_id for one in scores if one.benchmark == OTHER} == set(two.other_ids)
    for number, name in enumerate(two.own_ids):
        assert right[name] == small_benchmark.right(number)
    for number, name in enumerate(two.other_ids):
        assert right[name] == small_benchmark.right(number, flip=True, items=14)


def test_each_board_has_a_snapshot_of_its_own_entries(two: TwoBenchmarks) -> None:
    own, other = small_benchmark.snapshot(two.database, "demo"), small_benchmark.snapshot(two.database, OTHER)
    assert {entry["id"] for entry in own["entries"]} == set(two.own_ids)
    assert {entry["id"] for entry in other["entries"]} == set(two.other_ids)
    assert (own["benchmark"], other["benchmark"]) == ("demo", OTHER)
    assert set(own["relations"]) == set(other["relations"]) == {"demo", "flipped"}
    with two.database.read() as session:
        assert snapshot_at(session, "demo", when="2999-01-01") == shown_board(two.database, "demo").snapshot_id
        assert snapshot_at(session, OTHER, when="2999-01-01") == shown_board(two.database, OTHER).snapshot_id


def test_activating_a_revision_of_one_leaves_the_other_board_alone(two: TwoBenchmarks) -> None:
    before = shown_board(two.database, "demo"), small_benchmark.snapshot(two.database, "demo")
    small_benchmark.switch_board(two.database, two.other, revision="flipped", reason="test")
    two.drain()
    assert shown_board(two.database, OTHER).label_revision == "flipped"
    assert (shown_board(two.database, "demo"), small_benchmark.snapshot(two.database, "demo")) == before
    with two.database.read() as session:
        assert not list(integrity.check(session))
        assert audit.verify(session) is None


def test_quotas_and_attempts_count_for_one_benchmark(two: TwoBenchmarks) -> None:
    with two.database.write() as session:
        for name in (*two.own_ids, two.other_ids[0]):
            queries.charge(session, name, subjects=["account:a"])
        assert [
            len(queries.quota_used(session, name, subject="account:a", now=1001.0)) for name in ("demo", OTHER)
        ] == [3, 1]
        assert [
            queries.count_attempts(session, name, subject="account:a", label_revision="demo")
            for name in ("demo", OTHER)
        ] == [3, 1]


def test_tasks_of_two_benchmarks_do_not_wait_for_one_another(two: TwoBenchmarks) -> None:
    with two.database.write() as session:
        first, _ = tasks.request(
            session,
            Task(kind="rescore.apply", subject="flipped", params={}, reason="test", requested_by="a", benchmark="demo"),
        )
        second, new = tasks.request(
            session,
            Task(kind="rescore.apply", subject="flipped", params={}, reason="test", requested_by="a", benchmark=OTHER),
        )
        assert new
        with pytest.raises(TaskConflict):
            tasks.request(
                session,
                Task(kind="rescore.apply", subject="demo", params={}, reason="test", requested_by="a", benchmark=OTHER),
            )
        claim = tasks.claim(session, "w", lease_seconds=60, benchmark=OTHER)
        assert claim is not None
        assert (claim.id, claim.benchmark) == (second, OTHER)
        assert tasks.claim(session, "w", lease_seconds=60, benchmark=OTHER) is None
        assert tasks.claim(session, "w", lease_seconds=60, benchmark="demo") is not None
    assert first != second


def test_the_log_of_a_benchmark_has_its_decisions_and_those_of_the_service(two: TwoBenchmarks) -> None:
    entries = {name: ids[0] for name, ids in (("demo", two.own_ids), (OTHER, two.other_ids))}
    for scorer in (two.worker.scorers[0], two.other):
        small_benchmark.switch_board(two.database, scorer, revision="flipped", reason="test")
    with two.database.write() as session:
        for entry in entries.values():
            audit.append(session, "entry.flagged", data={"entry": entry, "note": "x", "by": "m"})
        audit.append(session, "submissions.paused", data={"message": "x", "by": "m"})
    events = ACTIONS.public_events()
    for name, entry in entries.items():
        found = decisions(two.database, events, benchmark=name)
        assert [one["kind"] for one in found if not one["kind"].startswith("board.")] == [
            "submissions.paused",
            "entry.flagged",
        ]
        assert entry in {one.get("entry") for one in found}
        assert sum(one["kind"] == "board.pointed" for one in found) == 1, "at the start"
    assert len([one for one in decisions(two.database, events) if one["kind"] == "entry.flagged"]) == 2
