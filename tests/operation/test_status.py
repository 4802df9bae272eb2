"""The public status, and the alarms of /readyz and health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from operation import alarms
from operation.alarms import FIGURES_DIFFER, NO_FILES, SCORES_LATE, ServiceAlarm, service_alarms
from operation.figures import STUCK_SECONDS
from operation.litestream import Litestream
from operation.replica import Replica
from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.limits import submission_pause
from tests.factories.services.local_client import local_client
from tests.operation.test_dashboards import EVERYTHING


@pytest.fixture
def database(database: Database) -> Database:
    with database.write() as session:
        worker_heartbeats.record_heartbeat(session, "worker-1")
    return database


def client(database: Database, folder: Path, *, raised: Sequence[ServiceAlarm] | None = None) -> TestClient:
    """Return a client of the application. `raised`: alarms in place of those that it finds."""
    with pytest.MonkeyPatch.context() as patch:
        if raised is not None:
            patch.setattr("web.services.service_alarms", lambda session, **_: list(raised))
        return local_client(database, folder)


@pytest.mark.parametrize(
    ("alarm", "effect", "sentence"),
    [
        (
            ServiceAlarm("disk-full", "words for operators", blocking=True, effect=NO_FILES),
            NO_FILES,
            "No files are accepted",
        ),
        (
            ServiceAlarm("worker-stuck", "words for operators", blocking=True, effect=SCORES_LATE),
            SCORES_LATE,
            "Scores come later",
        ),
        (ServiceAlarm("rows-changed", "words for operators", effect=FIGURES_DIFFER), FIGURES_DIFFER, "audit chain"),
    ],
)
def test_visitors_read_the_effect_of_an_alarm_and_not_the_alarm(
    tmp_path: Path, database: Database, alarm: ServiceAlarm, effect: str, sentence: str
) -> None:
    http = client(database, tmp_path, raised=[alarm])
    status = http.get("/api/v1/status").json()
    assert (status["status"], status["effects"]) == ("degraded", [effect])
    page = http.get("/status").text
    assert sentence in page
    assert "words for operators" not in page


@pytest.mark.parametrize("code", ["replica-behind", "of-a-later-release"])
def test_an_alarm_that_visitors_do_not_notice_leaves_the_service_operational(
    tmp_path: Path, database: Database, code: str
) -> None:
    status = client(database, tmp_path, raised=[ServiceAlarm(code, "words for operators")]).get("/api/v1/status").json()
    assert (status["status"], status["effects"]) == ("operational", [])


def test_readyz_and_the_status_name_the_same_trouble(tmp_path: Path, database: Database) -> None:
    with database.write() as session:
        worker_heartbeats.remove(session, "worker-1")
    http = client(database, tmp_path)
    assert http.get("/healthz").json() == {"status": "ok"}
    assert http.get("/readyz").json()["code"] == "worker-offline"
    assert http.get("/api/v1/status").json()["effects"] == [SCORES_LATE]


def test_the_status_is_counted_once_in_a_few_seconds(tmp_path: Path, database: Database) -> None:
    http = client(database, tmp_path)
    status = http.get("/api/v1/status").json()
    assert (status["status"], status["paused"]) == ("operational", None)
    with database.write() as session:
        submission_pause.pause(session, "until noon")
    assert http.get("/api/v1/status").json()["paused"] is None
    assert client(database, tmp_path).get("/api/v1/status").json()["status"] == "paused"


def test_a_database_that_is_away_is_said(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(session: Any) -> None:
        raise OperationalError("", None, Exception("away"))

    monkeypatch.setattr("web.pages.figures.gather", away)
    http = client(database, tmp_path)
    assert http.get("/api/v1/status").json()["status"] == "offline"
    assert "database does not answer" in http.get("/status").text


def test_a_full_disk_is_named_by_readyz_with_what_to_do(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = client(database, tmp_path)
    with database.write() as session:  # a worker counts as alive for a minute; building the application can take one
        worker_heartbeats.record_heartbeat(session, "worker-1")
    assert http.get("/readyz").json()["alarms"] == []
    monkeypatch.setattr(alarms, "KEPT_FREE", 1 << 60)
    refused = client(database, tmp_path).get("/readyz")
    assert (refused.status_code, refused.json()["code"]) == (503, "disk-full")
    assert "Make room" in refused.json()["detail"]
    assert str(tmp_path) not in refused.text, "paths are for operators"


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


@pytest.mark.parametrize("lag", [None, 0.0, 59.0, 61.0])
def test_a_replica_that_stays_behind_is_an_alarm_that_visitors_notice(
    tmp_path: Path, database: Database, lag: float | None
) -> None:
    litestream = Late(tmp_path / "leaderboard.db", Replica(str(tmp_path)))
    object.__setattr__(litestream, "seconds", lag)
    with database.read() as session:
        raised = service_alarms(session, [], litestream=litestream)
    late = lag is None or lag > 60
    assert [(one.code, one.effect) for one in raised] == [("replica-behind", NO_FILES)] * late


class Late(Litestream):
    """Litestream that says how late it is."""

    seconds: float | None

    def lag(self) -> float | None:
        return self.seconds
