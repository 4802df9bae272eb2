"""Tasks that failed: they are asked for again, and Health lists them until somebody has."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from auth import Forbidden
from leaderboard.pages.item_catalog import ItemCatalog
from maintenance import cli
from maintenance.actions import labels, operations, rescoring
from maintenance.actions.task_retry import retry_task
from maintenance.types import Conflict, NotFound
from review import candidates, disputes
from storage import tasks
from storage.clock import database_now
from storage.models.moderation import Task
from storage.tasks import TaskView
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, SECOND_MAINTAINER, STRANGER
from tests.factories.review_setup import ReviewSetup, add_judges, set_up

WHY = "the preferred response invents a dog"


@pytest.fixture
def bench(tmp_path: Path) -> ReviewSetup:
    return set_up(new_database(f"sqlite:///{tmp_path}/board.db"), tmp_path)


def _listed(bench: ReviewSetup) -> list[int]:
    return [one.id for one in operations.health(bench.database, MAINTAINER, "demo").failed_tasks]


def _task(bench: ReviewSetup, number: int | None) -> TaskView:
    return operations.task(bench.database, MAINTAINER, number or 0)


def _import(bench: ReviewSetup, source: Path, revision: str = "v3") -> int:
    asked = labels.request_import(bench.database, MAINTAINER, "demo", revision, str(source), "new", public=True)
    bench.runner.run_all()
    return asked.task_id or 0


def _write(bench: ReviewSetup, source: Path) -> None:
    source.write_text("\n".join(json.dumps(row) for row in small_benchmark.label_rows(bench.table, flip=True)))


def _fail(bench: ReviewSetup, number: int | None) -> int:
    """Return what a worker does where it cannot do a task."""
    with bench.database.write() as session:
        claim = tasks.claim(session, "worker", 60.0)
        assert claim is not None and claim.task_id == number
        tasks.fail(session, claim, "a fault", retry=False)
    return claim.task_id


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
    again = retry_task(bench.database, SECOND_MAINTAINER, "demo", first)
    assert again.changed and again.task_id not in (None, first)
    assert _listed(bench) == [], "it was asked for again"
    old, new = _task(bench, first), _task(bench, again.task_id)
    assert (new.kind, new.subject, new.params, new.reason) == (old.kind, old.subject, old.params, old.reason)
    assert new.requested_by == SECOND_MAINTAINER.account
    bench.runner.run_all()
    assert _listed(bench) == [again.task_id], "the file is gone still, which its failure says"
    _write(bench, source)
    assert retry_task(bench.database, MAINTAINER, "demo", first).changed
    bench.runner.run_all()
    assert _listed(bench) == []
    with pytest.raises(Conflict, match="exists"):
        retry_task(bench.database, MAINTAINER, "demo", first)


def test_a_failure_leaves_the_list_once_the_same_was_done_otherwise(bench: ReviewSetup, tmp_path: Path) -> None:
    source = tmp_path / "labels.jsonl"
    first, other = _import(bench, tmp_path / "mistyped.jsonl"), _import(bench, tmp_path / "none.jsonl", "v4")
    assert _listed(bench) == [other, first]
    _write(bench, source)
    _import(bench, source)
    assert _listed(bench) == [other]


def test_every_kind_is_asked_for_again_or_says_where_it_is_confirmed(bench: ReviewSetup, tmp_path: Path) -> None:
    (entry,) = add_judges(bench, bench.labels.preferred[np.newaxis], ["o"])
    told = (bench.database, MAINTAINER)
    disputes.dispute(bench.database, STRANGER, bench.table, bench.key(0), "a", WHY)
    disputes.decide(*told, "demo", 1, True, "yes")
    _write(bench, tmp_path / "labels.jsonl")
    _import(bench, tmp_path / "labels.jsonl")
    for asked in (
        lambda: operations.request_backup(*told),
        lambda: candidates.request(*told, "demo"),
        lambda: disputes.request_draft(*told, "demo", "next", "demo", "one"),
        lambda: rescoring.request_preview(*told, "demo", "v3", entries=[entry]),
    ):
        first = _fail(bench, asked().task_id)
        again = retry_task(*told, "demo", first)
        assert _task(bench, again.task_id).params == _task(bench, first).params
        assert not retry_task(*told, "demo", first).changed, "a double click"
        _fail(bench, again.task_id)
    for asked in (
        lambda: rescoring.request_apply(*told, "demo", "v3", "better", "v3"),
        lambda: labels.request_retire(*told, "demo", "v3", "published", "v3"),
    ):
        first = _fail(bench, asked().task_id)
        with pytest.raises(Conflict, match="revision v3 once more: that wants its name typed again"):
            retry_task(*told, "demo", first)
        assert first in _listed(bench)
        _fail(bench, asked().task_id)
        assert first not in _listed(bench)


def test_only_what_has_failed_is_asked_for_again_and_by_maintainers_alone(bench: ReviewSetup) -> None:
    asked = operations.request_backup(bench.database, MAINTAINER)
    said = retry_task(bench.database, MAINTAINER, "demo", asked.task_id or 0)
    assert (said.changed, "has not failed" in said.message) == (False, True)
    with pytest.raises(NotFound):
        retry_task(bench.database, MAINTAINER, "demo", 99)
    with pytest.raises(Forbidden):
        retry_task(bench.database, STRANGER, "demo", asked.task_id or 0)


def test_the_command_line_asks_again_and_says_what_it_leaves(bench: ReviewSetup, tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        parser = argparse.ArgumentParser()
        cli.add_commands(parser.add_subparsers(required=True))
        options = parser.parse_args(list(arguments))
        return options.command(
            cli.CliContext(bench.database, LOCAL, "demo", dict, (), ItemCatalog(), lambda question: ""), options
        )

    first = _import(bench, tmp_path / "none.jsonl")
    assert run("retry").text.endswith("Failed tasks, which are asked for again one by one: 1.")
    assert "imports revision v3" in run("retry", "--task", str(first)).text
    assert run("retry").text == "0 jobs wait to be tried again."
