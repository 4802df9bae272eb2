"""The public status, the incidents that maintainers write, and the alarms of /readyz and health."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import SQLAlchemyError
from starlette.testclient import TestClient

from auth.model import Forbidden
from maintenance.actions import incidents
from maintenance.types import Conflict, NotFound
from operation import alarms, doctor
from operation.figures import STUCK_SECONDS
from operation.litestream import Litestream, Position
from operation.replica import Replica
from operation.replica_watch import BEHIND_SECONDS, ReplicaWatch
from receipts.signing import Signer
from settings import Settings
from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.limits import submission_pause
from tests.databases import new_database
from tests.factories.accounts import LOCAL, STRANGER
from tests.factories.actions import by
from tests.factories.refusals import refuses
from tests.operation.test_dashboards import EVERYTHING
from web.app import create_app
from web.services import build_services
from web.status_page import age_text
from workers.snapshot_triggers import needs_snapshot


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    with found.write() as session:
        worker_heartbeats.record_heartbeat(session, "worker-1")
    yield found
    found.close()


def client(database: Database, folder: Path) -> TestClient:
    settings = Settings.from_env({"DATA_DIR": str(folder), "LABELS": "v2=/labels.jsonl", "IDENTITY": "local"})
    app = create_app(settings, build_services(settings, database, Signer.make()), lambda: None)
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 5))


def test_the_status_is_for_everybody_and_tells_of_incidents(tmp_path: Path, database: Database) -> None:
    assert client(database, tmp_path).get("/api/v1/status").json()["status"] == "operational"
    opened = incidents.open_incident(by(database, LOCAL), "Scoring is slow <b>today</b>")
    number = opened.seq
    assert number is not None
    incidents.update_incident(by(database, LOCAL), number, "A second worker helps")
    status = client(database, tmp_path).get("/api/v1/status").json()
    assert status["status"] == "degraded"
    (incident,) = status["incidents"]
    assert (incident["title"], incident["closed_at"]) == ("Scoring is slow <b>today</b>", None)
    page = client(database, tmp_path).get("/status").text
    assert "Scoring is slow &lt;b&gt;today&lt;/b&gt;" in page
    assert "A second worker helps" in page
    incidents.close_incident(by(database, LOCAL), number, "Solved")
    assert client(database, tmp_path).get("/api/v1/status").json()["status"] == "operational"
    with refuses(Conflict, "incident-closed"):
        incidents.update_incident(by(database, LOCAL), number, "Again")
    with pytest.raises(NotFound):
        incidents.update_incident(by(database, LOCAL), 10_000, "Which?")
    with database.read() as session:
        assert not needs_snapshot(session, number - 1), "the board does not change"


def test_incidents_are_written_by_maintainers_alone(database: Database) -> None:
    with pytest.raises(Forbidden):
        incidents.open_incident(by(database, STRANGER), "Look at me")


def test_the_status_is_counted_once_in_a_few_seconds(tmp_path: Path, database: Database) -> None:
    http = client(database, tmp_path)
    assert http.get("/api/v1/status").json()["paused"] is None
    with database.write() as session:
        submission_pause.pause(session, "until noon")
    assert http.get("/api/v1/status").json()["paused"] is None
    assert client(database, tmp_path).get("/api/v1/status").json()["status"] == "paused"


def test_a_database_that_is_away_is_said(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(session: Any) -> None:
        raise SQLAlchemyError("away")

    monkeypatch.setattr("operation.public_status.figures.gather", away)
    http = client(database, tmp_path)
    assert http.get("/api/v1/status").json()["status"] == "offline"
    assert "The database does not answer" in http.get("/status").text


def test_a_full_disk_is_named_by_readyz_with_what_to_do(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client(database, tmp_path).get("/readyz").json()["alarms"] == []
    monkeypatch.setattr(alarms, "KEPT_FREE", 1 << 60)
    refused = client(database, tmp_path).get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "disk-full")
    assert "Make room" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("oldest", "running", "scored", "stuck"),
    [
        (None, None, None, False),
        (10.0, None, None, False),
        (STUCK_SECONDS + 1, None, 5.0, False),
        (STUCK_SECONDS + 1, None, None, True),
        (None, STUCK_SECONDS + 1, STUCK_SECONDS + 1, True),
    ],
)
def test_a_worker_is_stuck_if_jobs_wait_and_nothing_is_scored(
    oldest: float | None, running: float | None, scored: float | None, stuck: bool
) -> None:
    found = replace(EVERYTHING, oldest_job_age=oldest, oldest_running_age=running, last_scored_age=scored)
    assert found.stuck is stuck


def test_a_replica_that_stays_behind_is_an_alarm_until_it_has_everything(tmp_path: Path) -> None:
    now, answers = [0.0], [Position(5, 5), None, Position(9, 6), Position(9, 9)]
    litestream = Litestream(tmp_path / "leaderboard.db", Replica(str(tmp_path)))
    watch = ReplicaWatch(litestream, lambda: now[0])
    sync = iter(answers)
    object.__setattr__(watch, "_litestream", type("Answers", (), {"sync": lambda self, timeout: next(sync)})())
    watch.look()
    for _ in range(2):
        now[0] += BEHIND_SECONDS
        watch.look()
    assert watch.transactions_behind == 3
    assert watch.alarm is not None
    assert "maintenance doctor" in watch.alarm
    watch.look()
    assert (watch.alarm, watch.transactions_behind) == (None, 0)


def test_ages_are_said_as_people_say_them() -> None:
    said = [age_text(seconds) for seconds in (None, 0, 119, 120, 7199, 7200, 200_000)]
    assert said[:4] == ["never", "0 seconds ago", "119 seconds ago", "2 minutes ago"]
    assert said[4:] == ["119 minutes ago", "2 hours ago", "2 days ago"]


def test_what_is_kept_free_is_one_number() -> None:
    assert doctor.KEPT_FREE == alarms.KEPT_FREE == 512 << 20
