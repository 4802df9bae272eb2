"""Failed tasks: Health lists them for a week, or until the same was asked for again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from maintenance.actions import labels, operations, tasks
from storage.clock import database_now
from storage.models.queue import Task
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.review_setup import ReviewSetup, set_up


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
