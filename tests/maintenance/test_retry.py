"""Tasks that failed: they are asked for again, and Health lists them until somebody has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from maintenance.actions import labels, operations, rescoring
from maintenance.actions.labels import DisclosureLevel
from maintenance.actions.task_retry import retry_task
from maintenance.types import Conflict, NotFound
from review.actions import disputes
from storage.clock import database_now
from storage.jobs import tasks
from storage.jobs.tasks import TaskView
from storage.models.queue import Task
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, SECOND_MAINTAINER, STRANGER
from tests.factories.actions import by, run_command
from tests.factories.refusals import refuses
from tests.factories.review_setup import ReviewSetup, add_judges, set_up

WHY = "the preferred response invents a dog"


@pytest.fixture
def bench(tmp_path: Path) -> ReviewSetup:
    return set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)


def _listed(bench: ReviewSetup) -> list[int]:
    return [one.id for one in operations.health(by(bench.database, MAINTAINER)).failed_tasks]


def _task(bench: ReviewSetup, number: int | None) -> TaskView:
    return operations.task(by(bench.database, MAINTAINER), number or 0)


def _import(bench: ReviewSetup, source: Path, *, revision: str = "v3") -> int:
    asked = labels.request_import(
        by(bench.database, MAINTAINER), revision, str(source), "new", level=DisclosureLevel(public=True)
    )
    bench.runner.run_all()
    return asked.task_id or 0


def _write(bench: ReviewSetup, source: Path) -> None:
    source.write_text("\n".join(json.dumps(row) for row in small_benchmark.label_rows(bench.table, flip=True)))


def _fail(bench: ReviewSetup, number: int | None) -> int:
    """Return what a worker does where it cannot do a task."""
    with bench.database.write() as session:
        claim = tasks.claim(session, "worker", lease_seconds=60.0)
        assert claim is not None and claim.id == number
        tasks.fail(session, claim, words="a fault", retry=False)
    return claim.id


def test_a_failure_that_nobody_cares_about_is_gone_from_the_list_in_a_week(bench: ReviewSetup, tmp_path: Path) -> None:
    task = _import(bench, tmp_path / "none.jsonl")
    for days, listed in ((6, [task]), (8, [])):
        with bench.database.write() as session:
            session.execute(update(Task).values(finished_at=database_now() - days * 86_400.0))
        assert _listed(bench) == listed
    assert _task(bench, task).state == "failed"


def test_a_failed_task_is_asked_for_again_with_its_parameters_and_leaves_the_list(
    bench: ReviewSetup, tmp_path: Path
) -> None:
    source = tmp_path / "labels.jsonl"
    first = _import(bench, source)
    assert _listed(bench) == [first]
    again = retry_task(by(bench.database, SECOND_MAINTAINER), first)
    assert again.changed and again.task_id not in (None, first)
    assert _listed(bench) == [], "it was asked for again"
    old, new = _task(bench, first), _task(bench, again.task_id)
    assert (new.kind, new.subject, new.params, new.reason) == (old.kind, old.subject, old.params, old.reason)
    assert new.requested_by == SECOND_MAINTAINER.account
    bench.runner.run_all()
    assert _listed(bench) == [again.task_id], "the file is gone still, which its failure says"
    _write(bench, source)
    assert retry_task(by(bench.database, MAINTAINER), first).changed
    bench.runner.run_all()
    assert _listed(bench) == []
    with refuses(Conflict, "known-revision"):
        retry_task(by(bench.database, MAINTAINER), first)


def test_a_task_of_another_benchmark_is_asked_for_there(bench: ReviewSetup, tmp_path: Path) -> None:
    task = _import(bench, tmp_path / "none.jsonl")
    with refuses(Conflict, "other-benchmark"):
        retry_task(by(bench.database, MAINTAINER, benchmark="another"), task)


def test_a_failure_leaves_the_list_once_the_same_was_done_otherwise(bench: ReviewSetup, tmp_path: Path) -> None:
    source = tmp_path / "labels.jsonl"
    first, other = _import(bench, tmp_path / "mistyped.jsonl"), _import(bench, tmp_path / "none.jsonl", revision="v4")
    assert _listed(bench) == [other, first]
    _write(bench, source)
    _import(bench, source)
    assert _listed(bench) == [other]


def test_every_kind_is_asked_for_again_or_says_where_it_is_confirmed(bench: ReviewSetup, tmp_path: Path) -> None:
    add_judges(bench, bench.labels.preferred[np.newaxis], owners=["o"])
    told = by(bench.database, MAINTAINER)
    disputes.dispute(by(bench.database, STRANGER, table=bench.table), bench.key(0), better="a", reason=WHY)
    disputes.decide(told, 1, accepted=True, note="yes")
    _write(bench, tmp_path / "labels.jsonl")
    _import(bench, tmp_path / "labels.jsonl")
    for asked in (
        lambda: operations.request_backup(told),
        lambda: disputes.request_draft(told, "next", base="demo", reason="one"),
        lambda: rescoring.request_preview(told, "v3"),
    ):
        first = _fail(bench, asked().task_id)
        again = retry_task(told, first)
        assert _task(bench, again.task_id).params == _task(bench, first).params
        assert not retry_task(told, first).changed, "a double click"
        _fail(bench, again.task_id)
    for asked in (
        lambda: rescoring.request_apply(told, "v3", "better", "v3"),
        lambda: labels.request_retire(told, "v3", reason="published", confirmation="v3"),
    ):
        first = _fail(bench, asked().task_id)
        with refuses(Conflict, "not-confirmed") as refused:
            retry_task(told, first)
        assert "revision v3 once more" in str(refused.value)
        assert first in _listed(bench)
        _fail(bench, asked().task_id)
        assert first not in _listed(bench)


def test_only_what_has_failed_is_asked_for_again(bench: ReviewSetup) -> None:
    asked = operations.request_backup(by(bench.database, MAINTAINER))
    said = retry_task(by(bench.database, MAINTAINER), asked.task_id or 0)
    assert (said.changed, "has not failed" in said.message) == (False, True)
    with pytest.raises(NotFound):
        retry_task(by(bench.database, MAINTAINER), 99)


def test_the_command_line_asks_again_and_says_what_it_leaves(bench: ReviewSetup, tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        return run_command(by(bench.database, LOCAL), *arguments)

    first = _import(bench, tmp_path / "none.jsonl")
    assert run("jobs", "retry-all").text.endswith("one by one: 1.")
    assert "imports revision v3" in run("tasks", "retry", str(first)).text
    assert run("jobs", "retry-all").text == "0 jobs wait to be tried again."
