"""Whatever the alerts name exists in /metrics, with its labels; each promise has its alert."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import PlainTextResponse

from operation import figures
from operation.alarms import ServiceAlarm
from operation.figures import BoardFigures, ServiceFigures
from operation.litestream import Litestream
from operation.metrics import InstallationCollector, RequestMetricsMiddleware, make_registry
from operation.replica import Replica
from storage.database import Database

DEPLOY = Path(__file__).parents[2] / "deploy"
EVERYTHING = ServiceFigures(
    submissions=1,
    jobs={"queued": 1, "done": 3},
    oldest_job_age=1.0,
    oldest_running_age=1.0,
    last_scored_age=1.0,
    waiting_seconds=(0.1, 0.2),
    workers=1,
    snapshot_age=1.0,
)
BOARDS = {"demo": BoardFigures(1, 1.0, 1.0)}
_NAME = re.compile(r"\b((?:leaderboard|process)_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r"(\w+)\s*[=!]~?")
_SHOWN = re.compile(r"{{\s*(?:\$labels\.)?(\w+)\s*}}")
_BY = re.compile(r"by \(([^)]*)\)")


@pytest.fixture
def exported(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Name of every sample of a service that has everything to measure, and its labels."""
    monkeypatch.setattr(figures, "gather", lambda session: EVERYTHING)
    monkeypatch.setattr(figures, "of_boards", lambda session: BOARDS)
    monkeypatch.setattr(Litestream, "lag", lambda self: 1.0)
    litestream = Litestream(tmp_path / "leaderboard.db", Replica(str(tmp_path)))
    raised = [ServiceAlarm("disk-full", "Make room.")]
    registry: CollectorRegistry = make_registry(
        InstallationCollector(database, tmp_path, litestream=litestream, alarms=lambda _: raised)
    )
    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    RequestMetricsMiddleware(PlainTextResponse(), registry).record(scope, 200, seconds=0.1)
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def alert_rules() -> list[dict[str, Any]]:
    return list(yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"])


def test_every_metric_and_label_of_an_alert_exists(exported: dict[str, set[str]]) -> None:
    for rule in alert_rules():
        named = _NAME.findall(rule["expr"])
        assert named, rule
        for name, labels in named:
            assert name in exported, name
            assert set(_LABEL.findall(labels)) <= exported[name], rule
        grouped = {label.strip() for labels in _BY.findall(rule["expr"]) for label in labels.split(",")}
        assert grouped <= exported[named[0][0]], rule
        known = set().union(*(exported[name] for name, _ in named))
        assert set(_SHOWN.findall(rule["annotations"]["summary"])) <= known, rule


def test_a_fresh_board_hides_no_stale_one(exported: dict[str, set[str]]) -> None:
    """The rule compares by all labels, so the benchmark must be one of both figures."""
    for name in ("leaderboard_snapshot_age_seconds", "leaderboard_last_score_age_seconds"):
        assert exported[name] == {"benchmark"}


def test_every_alert_is_on_the_page_of_promises_and_says_what_to_do() -> None:
    page = (DEPLOY.parent / "docs" / "performance.md").read_text()
    for rule in alert_rules():
        assert f"`{rule['alert']}`" in page, rule["alert"]
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["labels"]["severity"] in ("page", "ticket")
