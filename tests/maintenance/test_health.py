"""Health of workers: alive, missed, or without their labels; failed tasks, until the same was asked for again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.orm import Session

from maintenance.actions import labels, operations, rescoring, tasks
from maintenance.types import Conflict
from maintenance.view import terminal
from storage.clock import database_now, minute
from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.labels import label_sets
from storage.models.queue import Task
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, set_up


def _silent(session: Session, worker: str, *, seconds: float) -> None:
    worker_heartbeats.record_heartbeat(session, worker)
    session.execute(
        text("UPDATE workers SET started_at = started_at - :s, heartbeat_at = heartbeat_at - :s WHERE name = :n"),
        {"s": seconds, "n": worker},
    )


def test_a_dead_worker_is_silent_after_a_minute_and_no_longer_named_after_an_hour(database: Database) -> None:
    with database.write() as session:
        for worker, seconds in (("alive", 5), ("dead", 90), ("forgotten", 4000)):
            _silent(session, worker, seconds=seconds)
    found = operations.health(by(database, MAINTAINER))
    assert [one.name for one in found.workers] == ["alive", "dead"]
    alive, dead = found.workers
    assert alive.silent_since is None
    assert dead.silent_since is not None
    said = f"silent since {minute(dead.silent_since)}"
    signs = {row.cells[0].text: row.cells[2].text for row in operations.health.view(found).tables[0].rows}
    assert (signs["dead"], signs["alive"][:10]) == (said, "last seen ")


def test_the_labels_of_the_board_must_be_held_by_a_worker_that_lives(database: Database) -> None:
    with database.write() as session:
        label_sets.register(session, "v2", benchmark="demo", digest="a" * 64, items=21)
        label_sets.activate_revision(session, "demo", label_revision="v2", scorer_version="1", reason="start")
        _silent(session, "dead", seconds=90)
        worker_heartbeats.set_loaded_revisions(session, "dead", revisions={"demo": ["v2"]})
        rescoring.require_labels_loaded(session, "demo", revision="v2")  # nobody lives who could say otherwise
        worker_heartbeats.record_heartbeat(session, "of an earlier release")
        rescoring.require_labels_loaded(session, "demo", revision="v2")
        worker_heartbeats.record_heartbeat(session, "alive")
        worker_heartbeats.set_loaded_revisions(session, "alive", revisions={"demo": ["v1"]})
        with refuses(Conflict, "labels-missing"):
            rescoring.require_labels_loaded(session, "demo", revision="v2")
    found = operations.health(by(database, MAINTAINER))
    assert [alarm.code for alarm in found.alarms] == ["labels-missing"]
    assert found.alarms[0].sentence in terminal(operations.health.view(found))
    with database.write() as session:
        worker_heartbeats.add_loaded_revision(session, "alive", benchmark="demo", revision="v2")
        worker_heartbeats.add_loaded_revision(
            session, "of an earlier release", benchmark="demo", revision="v3"
        )  # has not said anything: it still does not
        rescoring.require_labels_loaded(session, "demo", revision="v1")
        assert worker_heartbeats.no_worker_has(session, "demo", revision="v3")
    assert operations.health(by(database, MAINTAINER)).alarms == ()
    with database.write() as session:
        worker_heartbeats.record_heartbeat(session, "alive")
        assert not worker_heartbeats.no_worker_has(session, "demo", revision="v2"), (
            "a heartbeat alone takes nothing back"
        )


@pytest.fixture
def bench(tmp_path: Path) -> ReviewSetup:
    return set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)


def _listed(bench: ReviewSetup) -> list[int]:
    return [one.id for one in operations.health(by(bench.database, MAINTAINER)).failed_tasks]


def _import(bench: ReviewSetup, source: Path, *, revision: str = "v3") -> int:
    asked = labels.request_import(by(bench.database, MAINTAINER), revision, str(source), "new", disclosure="public")
    bench.runner.run_all()
    return asked.task_id or 0


def _write(bench: ReviewSetup, source: Path) -> None:
    source.write_text("\n".join(json.dumps(row) for row in small_benchmark.label_rows(bench.table, flip=True)))


def test_a_failure_that_nobody_cares_about_is_gone_from_the_list_in_a_week(bench: ReviewSetup, tmp_path: Path) -> None:
    task = _import(bench, tmp_path / "none.jsonl")
    for days, listed in ((6, [task]), (8, [])):
        with bench.database.write() as session:
            session.execute(update(Task).values(finished_at=database_now() - days * 86_400.0))
        assert _listed(bench) == listed
    assert tasks.task(by(bench.database, MAINTAINER), task).state == "failed"


def test_a_failure_leaves_the_list_once_the_same_was_done_otherwise(bench: ReviewSetup, tmp_path: Path) -> None:
    source = tmp_path / "labels.jsonl"
    first, other = _import(bench, tmp_path / "mistyped.jsonl"), _import(bench, tmp_path / "none.jsonl", revision="v4")
    assert _listed(bench) == [other, first]
    _write(bench, source)
    _import(bench, source)
    assert _listed(bench) == [other]
