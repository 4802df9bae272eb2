"""A database of the first release, as its demo left it (first_release/*.sql.gz), after the migrations since.

The dumps were made once, by the program of that release, and are never made again: they are what stands on the disks
of those who began with it.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import func, inspect, select
from sqlalchemy.engine import make_url

from maintenance.actions import operations, rescoring
from maintenance.actions.rescoring import RescoreScope
from operation.alarms import DECISION_PENDING, service_alarms
from operation.public_status import PublicStatus
from storage.boards import snapshots
from storage.database import Database, migrate, open_database
from storage.integrity import audit, integrity_check
from storage.models.core import Score, Snapshot
from submissions.status import Status, get_status
from tests.databases import database_url
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.specs import DEMO
from vlrb import demo
from vlrb.scorecard import SCORER_VERSION
from workers.jobs.score import ScoringOutcome
from workers.runner import Worker
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import create_task_runner

__all__ = ["database_url"]
FOLDER = Path(__file__).parent / "first_release"


@pytest.fixture
def url(database_url: str) -> str:
    """Return the URL of a database that the first release left."""
    address = make_url(database_url)
    kind = address.get_backend_name()
    dump = gzip.decompress((FOLDER / f"{kind}.sql.gz").read_bytes()).decode()
    if kind == "sqlite":
        Path(address.database or "").parent.mkdir(parents=True)
        with closing(sqlite3.connect(address.database or "")) as connection:
            connection.executescript(dump)
    else:
        with psycopg.connect(database_url) as connection:
            connection.execute(dump.replace("first_release", "public").encode())
    return database_url


def _scores(database: Database) -> dict[str, object]:
    with database.read() as session:
        return {row.submission_id: row.tally for row in session.execute(select(Score.submission_id, Score.tally))}


def test_its_board_scores_and_chain_are_what_they_were(url: str) -> None:
    database = open_database(url)
    before = _scores(database)
    migrate(database)
    with database.read() as session:
        assert audit.verify(session) is None
        assert list(integrity_check.check(session)) == []
        contents = dict(snapshots.contents(session))
        assert len(contents) == session.scalar(select(func.count()).select_from(Snapshot)) > 1
        assert None not in contents.values()
    assert _scores(database) == before and len(before) == 6
    database.close()


def test_it_has_the_tables_and_rules_of_a_new_database(url: str, tmp_path: Path) -> None:
    database, new = open_database(url), open_database(f"sqlite:///{tmp_path}/new.db")
    migrate(database)
    migrate(new)
    assert _schema(database) == _schema(new)
    for opened in (database, new):
        opened.close()


def _schema(database: Database) -> dict[str, set[object]]:
    """Return table -> its columns, foreign keys, and checks but those of booleans, which PostgreSQL does not need."""
    schema = inspect(database.engine)
    result: dict[str, set[object]] = {}
    for table in schema.get_table_names():
        checks = {str(rule["name"]) for rule in schema.get_check_constraints(table)}
        result[table] = {
            *(column["name"] for column in schema.get_columns(table)),
            *(name for name in checks if not name.endswith("_open_weights")),
            *((*key["constrained_columns"], key["referred_table"]) for key in schema.get_foreign_keys(table)),
        }
    return result


def test_its_service_says_that_files_wait_for_the_new_rules_and_scores_them_once_applied(
    url: str, tmp_path: Path
) -> None:
    database = open_database(url)
    pairs = demo.demo_pairs()
    table = demo.demo_items(pairs)
    scorer = Scorer(table, {"demo": demo.demo_labels(pairs, table)}, version=SCORER_VERSION)
    prepare(database, scorer, label_revision="demo")
    runner = create_task_runner(database, scorer, state=tmp_path, lease_seconds=60)
    worker = Worker(database, runner.scorer, lease_seconds=60, name=runner.worker)
    worker.heartbeat()
    (new,) = small_benchmark.submit(database, range(1), items=len(pairs), queued=True)
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
    worker.publish_snapshot()
    with database.read() as session:
        assert audit.verify(session) is None
    database.close()


def _status(database: Database, submission: str) -> Status:
    found = get_status(database, DEMO, submission, MAINTAINER)
    assert found is not None
    return found


def _public(database: Database) -> dict[str, Any]:
    """Return what /status says."""
    served = {"demo": "Demo"}
    return PublicStatus(database, benchmarks=served, alarms=partial(service_alarms, benchmarks=served)).get()
