"""A worker with newer rules than the board's: files wait for the maintainers' decision, and everybody is told."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.render_context import RenderContext
from maintenance import previews
from maintenance.actions import operations, rescoring
from maintenance.actions.rescoring import RescoreRules
from operation.alarms import DECISION_PENDING, service_alarms
from storage.database import Database
from storage.integrity import audit
from storage.models.core import Score
from submissions.status import Status, get_status
from tests.databases import shown_board
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by, decisions
from tests.factories.board_app import board_app
from tests.factories.specs import DEMO
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.scorecard import SCORER_VERSION
from web.pages import public_status
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.score import ScoringOutcome
from workers.runner import Worker
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import TaskRunner, create_task_runner


def _start(database: Database, scorer: Scorer, state: Path) -> tuple[Worker, TaskRunner]:
    prepare(database, scorer, label_revision="demo")
    runner = create_task_runner(database, scorer, state=state, lease_seconds=60)
    return Worker(database, [runner.scorer], lease_seconds=60, name=runner.worker), runner


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
        by(database, MAINTAINER), "demo", "halves", confirmed, selected=RescoreRules(scorer_version=SCORER_VERSION)
    )
    runner.run_all()
    assert _status(database, new).state == "scored"
    assert (_public(database)["queue"], operations.health(by(database, MAINTAINER)).alarms) == (0, ())
    with database.read() as session:
        assert audit.verify(session) is None
        kept = set(session.scalars(select(Score.submission_id).where(Score.scorer_version == "1")))
    assert kept == set(old)


def test_a_board_keeps_its_rules_when_its_definition_changes_until_a_maintainer_applies_them(
    database: Database, tmp_path: Path
) -> None:
    both = small_benchmark.scorer()
    scorer = replace(both, labels={"demo": both.labels["demo"]})
    small_benchmark.submit(database, range(4), queued=False)
    worker, _ = _start(database, scorer, tmp_path)
    old_rows, first = _settled(database, worker, DEMO), shown_board(database).snapshot_id

    strict, *others = DEMO.protocols
    groupings = {**DEMO.groupings, "official": DEMO.groupings["povid-in-general"]}
    rules = (replace(strict, votes="first"), *others)
    newer = replace(DEMO, headline="overall", protocols=rules, groupings=groupings)
    worker, runner = _start(database, replace(scorer, table=scorer.table.under(newer)), tmp_path)
    assert _settled(database, worker, newer) == old_rows, "the page of the new release shows the old rules"
    maintainer = by(database, MAINTAINER)
    told = [alarm.sentence for alarm in operations.health(maintainer).alarms]
    told += [_public(database)["benchmarks"][0]["decision"]]
    assert len(told) == 2 and all("headline: macro" in one and "rescore apply demo --rules" in one for one in told)

    asked = rescoring.request_preview(maintainer, "demo", selected=RescoreRules(rules=True))
    runner.run_all()
    assert asked.task_id is not None
    found = rescoring.preview(maintainer, asked.task_id)
    assert (found["rules"]["before"]["headline"], found["rules"]["after"]["headline"]) == ("macro", "overall")
    assert "headline: macro → overall." in previews.shown(found).lines
    confirmed = rescoring.confirmation_for("demo", rules=True)
    rescoring.request_apply(maintainer, "demo", "the new paper", confirmed, selected=RescoreRules(rules=True))
    runner.run_all()
    new_rows = _settled(database, worker, newer)
    for row in found["entries"]:
        for name in ("overall", "macro", "general"):
            assert row[name] == pytest.approx([side[row["id"]][name] for side in (old_rows, new_rows)])
        assert row["rank"] == [side[row["id"]]["rank"] for side in (old_rows, new_rows)]
    assert new_rows != old_rows and found["summary"]["changed"] == len(old_rows)
    assert _rows(database, newer, as_of=first) == old_rows
    assert (operations.health(maintainer).alarms, _public(database)["benchmarks"][0]["decision"]) == ((), None)
    made = decisions(database)[0]
    assert (made["before"]["headline"], made["after"]["headline"]) == ("macro", "overall")
    assert {name for name in made["before"] if name != "headline"} == {
        "rule strict",
        "grouping official: general",
        "grouping official: hallucination",
    }

    assert rescoring.undo(maintainer, "demo", reason="look again", confirmation="demo").changed
    assert _settled(database, worker, newer) == old_rows
    assert decisions(database)[0]["after"] == made["before"]
    assert not rescoring.undo(maintainer, "demo", reason="look again", confirmation="demo").changed
    with database.read() as session:
        assert audit.verify(session) is None


def _settled(database: Database, worker: Worker, spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the board when all is scored, compared and published, as a web process with this definition shows it."""
    worker.heartbeat()
    while worker.work() is ScoringOutcome.SCORED:
        pass
    worker.publish_snapshot()
    compute_if_changed(database, worker.scorers[0])
    worker.publish_snapshot()
    return _rows(database, spec)


def _rows(database: Database, spec: BenchmarkSpec, **query: Any) -> dict[str, Any]:
    cache = BoardCache(DatabaseSnapshots(database, spec), context=RenderContext(spec))
    rows = TestClient(board_app(cache)).get("/api/v1/leaderboard", params={"tier": "scored", **query}).json()["entries"]
    return {row["id"]: row for row in rows}


def _status(database: Database, submission: str) -> Status:
    found = get_status(database, DEMO, submission, MAINTAINER)
    assert found is not None
    return found


def _public(database: Database) -> dict[str, Any]:
    """Return what /status says."""
    served = {"demo": "Demo"}
    return public_status(database, benchmarks=served, alarms=partial(service_alarms, benchmarks=served))
