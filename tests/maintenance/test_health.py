"""Health of workers: alive, missed, or without their labels. On databases of both kinds."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from maintenance.actions import operations, rescoring
from maintenance.types import Conflict
from maintenance.view import terminal
from storage.clock import minute
from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.labels import label_sets
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.refusals import refuses


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
