"""A worker with newer rules than the board's: files wait for the maintainers' decision, and everybody is told."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import select

from maintenance.actions import operations, rescoring
from maintenance.actions.rescoring import RescoreScope
from operation.alarms import DECISION_PENDING, service_alarms
from operation.public_status import PublicStatus
from storage.database import Database
from storage.integrity import audit
from storage.models.core import Score
from submissions.status import Status, get_status
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.specs import DEMO
from vlrb.scorecard import SCORER_VERSION
from workers.jobs.score import ScoringOutcome
from workers.runner import Worker
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import TaskRunner, create_task_runner


def _start(database: Database, scorer: Scorer, state: Path) -> tuple[Worker, TaskRunner]:
    prepare(database, scorer, label_revision="demo")
    runner = create_task_runner(database, scorer, state=state, lease_seconds=60)
    return Worker(database, runner.scorer, lease_seconds=60, name=runner.worker), runner


def test_files_wait_for_new_rules_and_are_scored_once_these_are_applied(database: Database, tmp_path: Path) -> None:
    both = small_benchmark.scorer()
    scorer = replace(both, labels={"demo": both.labels["demo"]})
    before, _ = _start(database, replace(scorer, version="1"), tmp_path)
    old = small_benchmark.submit(database, range(3), queued=True)
    while before.work() is ScoringOutcome.SCORED:
        pass
    worker, runner = _start(database, scorer, tmp_path)
    worker.heartbeat()  # of the worker before nothing is known: it has shown itself to nobody
    (new,) = small_benchmark.submit(database, range(3, 4), queued=True)
    while worker.work() is ScoringOutcome.SCORED:
        pass

    waiting = _status(database, new)
    assert (waiting.state, waiting.position, waiting.eta_seconds) == ("queued", None, None)
    command = f'rescore apply demo --scorer-version {SCORER_VERSION} --reason "..." --confirm "demo scorer '
    public = _public(database)
    assert public["effects"] == [DECISION_PENDING]
    (alarm,) = operations.health(by(database, MAINTAINER)).alarms
    for told in (waiting.reason, alarm.sentence, public["benchmarks"][0]["decision"]):
        assert told is not None and command in told

    worker.enqueue_missing()
    confirmed = rescoring.confirmation_for("demo", SCORER_VERSION)
    rescoring.request_apply(
        by(database, MAINTAINER), "demo", "halves", confirmed, selected=RescoreScope(scorer_version=SCORER_VERSION)
    )
    runner.run_all()
    assert _status(database, new).state == "scored"
    assert (_public(database)["queue"], operations.health(by(database, MAINTAINER)).alarms) == (0, ())
    with database.read() as session:
        assert audit.verify(session) is None
        kept = set(session.scalars(select(Score.submission_id).where(Score.scorer_version == "1")))
    assert kept == set(old)


def _status(database: Database, submission: str) -> Status:
    found = get_status(database, DEMO, submission, MAINTAINER)
    assert found is not None
    return found


def _public(database: Database) -> dict[str, Any]:
    """Return what /status says."""
    served = {"demo": "Demo"}
    return PublicStatus(database, benchmarks=served, alarms=partial(service_alarms, benchmarks=served)).get()
