"""The audit chain seen by maintainers: every changed byte is found, and so is a chain that was cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select, text

from maintenance.actions import audit as actions_audit
from maintenance.actions import entries
from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent
from tests.databases import on_record, submitted
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by

NO_UPDATE = {
    "sqlite": "DROP TRIGGER events_no_update",
    "postgresql": "ALTER TABLE events DISABLE TRIGGER USER",
}


@pytest.fixture
def recorded(database: Database) -> Database:
    for entry in on_record(database, submitted(database, 2)):
        entries.flag(by(database, MAINTAINER), entry, "a note with an Ä")
        entries.hide(by(database, MAINTAINER), entry, "because")
        entries.restore(by(database, MAINTAINER), entry, reason="because")
    return database


def _tamper(database: Database, statement: str, **values: object) -> None:
    with database.write() as session:
        session.execute(text(statement), values)


def test_a_chain_whose_end_was_cut_off_does_not_fit_a_kept_head(recorded: Database, tmp_path: Path) -> None:
    kept = actions_audit.head(by(recorded, MAINTAINER))
    read = json.dumps(kept)
    entries.hide(by(recorded, MAINTAINER), on_record(recorded, submitted(recorded, 1, owner="another"))[0], "because")
    found = actions_audit.verify(by(recorded, MAINTAINER), read)
    assert (found.ok, found.head_holds, found.events) == (True, True, 10)
    late = actions_audit.head(by(recorded, MAINTAINER))
    postgresql = recorded.engine.dialect.name == "postgresql"
    _tamper(recorded, NO_UPDATE["postgresql"] if postgresql else "DROP TRIGGER events_no_delete")
    _tamper(recorded, "DELETE FROM events WHERE seq > 9")
    with recorded.read() as session:
        last = session.execute(select(AuditEvent.seq, AuditEvent.hash).order_by(AuditEvent.seq.desc()).limit(1)).one()
    _tamper(recorded, "UPDATE audit_head SET seq = :seq, hash = :hash", seq=last.seq, hash=last.hash)
    assert actions_audit.verify(by(recorded, MAINTAINER)).ok  # nothing inside shows it
    assert actions_audit.verify(by(recorded, MAINTAINER), read).head_holds  # it is older than what was cut off
    newer = actions_audit.verify(by(recorded, MAINTAINER), json.dumps(late))
    assert (newer.ok, newer.head_holds, newer.newer_head) == (False, False, 10)
    assert "event 10" in newer.sentence and "event 9" in newer.sentence
    other = actions_audit.verify(by(recorded, MAINTAINER), json.dumps({**json.loads(read), "hash": "0" * 64}))
    assert (other.ok, other.newer_head) == (False, None)
    assert "not the one" in other.sentence


def test_the_public_chain_shows_no_event_and_passes_through_every_head(recorded: Database) -> None:
    head = actions_audit.head(by(recorded, MAINTAINER))
    entries.hide(by(recorded, MAINTAINER), on_record(recorded, submitted(recorded, 1, owner="another"))[0], "because")
    lines = list(actions_audit.public(recorded, page=2))
    events = [json.loads(line) for line in lines]
    assert [one["seq"] for one in events] == list(range(1, 11))
    assert all(set(one) == {"seq", "prev", "body_sha256", "hash"} for one in events)
    assert [one["prev"] for one in events] == [audit.GENESIS, *(one["hash"] for one in events[:-1])]
    assert events[head["seq"] - 1]["hash"] == head["hash"]
    assert "".join(lines) == "".join(actions_audit.public(recorded))
    assert list(actions_audit.public(recorded, after=5)) == lines[5:]
    assert list(actions_audit.public(recorded, after=10)) == list(actions_audit.public(recorded, after=10**9)) == []


def test_a_head_from_before_the_first_event_holds(database: Database) -> None:
    head = actions_audit.head(by(database, MAINTAINER))
    assert (head["seq"], head["hash"]) == (0, audit.GENESIS)
    assert actions_audit.verify(by(database, MAINTAINER), json.dumps(head)).ok
    assert not actions_audit.verify(by(database, MAINTAINER), json.dumps({**head, "hash": "0" * 63 + "1"})).ok
