"""The hash chain: its formula, no gaps under many writers, and every change found."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import DatabaseError

from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent, AuditHead
from tests.databases import new_database

NO_TRIGGERS = {
    "sqlite": (
        "DROP TRIGGER events_no_update",
        "DROP TRIGGER events_no_delete",
        "DROP TRIGGER audit_head_no_delete",
    ),
    "postgresql": ("ALTER TABLE events DISABLE TRIGGER ALL", "ALTER TABLE audit_head DISABLE TRIGGER ALL"),
}


def _append(database: Database, count: int) -> None:
    for number in range(count):
        with database.write() as session:
            audit.append(session, "test", data={"number": number, "text": "ä\u2028"})


def _tamper(database: Database, *statements: str) -> None:
    """What somebody with full access to the database could do."""
    with database.write() as session:
        for statement in (*NO_TRIGGERS[database.engine.dialect.name], *statements):
            session.connection().exec_driver_sql(statement)


def _verify(database: Database) -> int | None:
    """Return the seq of the first event that does not hold."""
    with database.read() as session:
        found = audit.verify(session)
    return None if found is None else found.seq


def test_the_hash_of_an_event_is_the_one_published() -> None:
    first = audit.canonical_json({"seq": 1, "ev": "submission.accepted", "sha256": "a" * 64})
    second = {"seq": 2, "ev": "submission.scored", "label_ver": "L1", "scorer_ver": "S1", "correct": 840}
    assert bytes(32).hex() == audit.GENESIS
    assert audit.body_sha256(first) == "da6abc580847579ab596fa6fd910c1ec88c9278165d94cf8b99c625752d977d5"
    assert (
        audit.body_sha256(audit.canonical_json(second))
        == "1d43dd5898c7cd5981b54d01fb73e3426e19f14b2df7e344a641af734e568d30"
    )
    one = audit.link(audit.GENESIS, first)
    two = audit.link(one, audit.canonical_json(second))
    assert one == "8f5d184ddc5b1b0e79058ce1307440af05b1e6afcc9686172e2c538120b71943"
    assert two == "519ea24eb81e33b46999ba31c62bbeb68715c03567a427c6658eeec56cb2a7ee"


def test_an_event_holds_its_number_kind_time_and_data(database: Database) -> None:
    with database.write() as session:
        assert audit.append(session, "test", data={"b": 1, "a": "ü"}) == 1
    with database.read() as session:
        event = session.scalars(select(AuditEvent)).one()
        body = json.loads(event.body)
        assert body == {"seq": 1, "ev": "test", "at": body["at"], "nonce": body["nonce"], "a": "ü", "b": 1}
        assert (event.kind, event.prev_hash) == ("test", audit.GENESIS)
        assert event.hash == audit.link(audit.GENESIS, event.body)
        assert audit.head(session) == (1, event.hash)


@pytest.mark.parametrize("key", audit.RESERVED)
def test_data_cannot_pretend_to_be_another_event(database: Database, key: str) -> None:
    with pytest.raises(ValueError, match=key), database.write() as session:
        audit.append(session, "test", data={key: 7})


def test_no_event_can_be_guessed_from_its_public_hash(database: Database) -> None:
    for _ in range(2):
        with database.write() as session:
            audit.append(session, "test", data={"correct": 840})
    with database.read() as session:
        nonces = [json.loads(body)["nonce"] for body in session.scalars(select(AuditEvent.body))]
        shown = list(audit.links(session))
    assert len(set(nonces)) == 2
    assert {len(nonce) for nonce in nonces} == {32}
    assert [one.prev for one in shown] == [audit.GENESIS, shown[0].hash]
    assert [set(one._asdict()) for one in shown] == [{"seq", "prev", "body_sha256", "hash"}] * 2


def test_events_are_found_by_what_they_are_about(database: Database) -> None:
    recorded = (
        ("entry.compared", {"entry": "eaaaaaaaaaaa", "submission": "ebbbbbbbbbbb"}),
        (audit.SCORED, {"submission": "ebbbbbbbbbbb"}),
        (audit.SCORES_RECORDED, {"benchmark": "demo", "label_revision": "v2", "first": "eaaaaaaaaaaa"}),
        ("board.pointed", {"benchmark": "demo", "to": {"label_revision": "v2"}}),
        ("submissions.paused", {"message": "until noon"}),
    )
    with database.write() as session:
        for kind, data in recorded:
            audit.append(session, kind, data=data)
    kinds = [kind for kind, _ in recorded]

    def about(*subjects: str, **more: int) -> list[int]:
        with database.read() as session:
            return [one.seq for one in audit.newest(session, kinds, subjects=subjects, **more)]

    assert about("eaaaaaaaaaaa") == [1]
    assert about("eaaaaaaaaaaa", "ebbbbbbbbbbb") == [2, 1]  # once each
    assert (about("ebbbbbbbbbbb", before=2), about("ebbbbbbbbbbb", limit=1)) == ([1], [2])
    assert [about(audit.labels(name, "demo")) for name in ("v2", "v3")] == [[3], []]
    assert about(audit.board("demo")) == [4]


def test_an_event_of_a_transaction_that_failed_leaves_no_gap(database: Database) -> None:
    _append(database, 2)

    def fail() -> None:
        with database.write() as session:
            audit.append(session, "test", data={})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    _append(database, 1)
    with database.read() as session:
        assert list(session.scalars(select(AuditEvent.seq).order_by(AuditEvent.seq))) == [1, 2, 3]
    assert _verify(database) is None


def test_many_writers_make_one_chain_without_gaps(database: Database) -> None:
    threads = [threading.Thread(target=_append, args=(database, 20)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert list(session.scalars(select(AuditEvent.seq).order_by(AuditEvent.seq))) == list(range(1, 161))
        times = [event.at for event in audit.newest(session, ["test"])]
    assert times == sorted(times, reverse=True)
    assert _verify(database) is None


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("DELETE FROM events WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq > 3", 4),
        ("DELETE FROM events", 1),
        ("UPDATE audit_head SET hash = replace(hash, substr(hash, 1, 1), 'x')", 5),
    ],
)
def test_a_missing_event_or_another_head_is_named(database: Database, statement: str, broken: int) -> None:
    _append(database, 5)
    assert _verify(database) is None
    _tamper(database, statement)
    with database.read() as session:
        found = audit.verify(session)
    assert found is not None and found.seq == broken
    assert (found.why == "it is missing") == ("seq = 3" in statement)


@pytest.mark.parametrize("column", [column.name for column in AuditEvent.__table__.columns])
def test_a_change_of_any_column_of_an_event_is_found(database: Database, column: str) -> None:
    _append(database, 5)
    changed = "seq + 100" if column == "seq" else f"replace({column}, substr({column}, 4, 1), 'x')"
    _tamper(database, f"UPDATE events SET {column} = {changed} WHERE seq = 3")
    with database.read() as session:
        found = audit.verify(session)
    assert found is not None and found.seq == 3


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM event_subjects WHERE seq = 2",
        "UPDATE event_subjects SET subject = 'ebbbbbbbbbbb' WHERE seq = 2",
        "INSERT INTO event_subjects (subject, seq) VALUES ('ebbbbbbbbbbb', 2)",
    ],
)
def test_a_change_of_what_an_event_is_said_to_be_about_is_found(database: Database, statement: str) -> None:
    for _ in range(3):
        with database.write() as session:
            audit.append(session, "entry.flagged", data={"entry": "eaaaaaaaaaaa"})
    assert _verify(database) is None
    _tamper(database, statement)
    assert _verify(database) == 2


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        *(("events", column, "x'7bff'") for column in ("prev_hash", "hash", "kind", "body")),
        *(("events", column, "CAST(x'7bff' AS TEXT)") for column in ("prev_hash", "hash", "kind", "body")),
        *(("events", "body", value) for value in ("7", "'[1]'", "'{\"at\":' || hex(zeroblob(9999)) || '}'")),
        *(("audit_head", "seq", value) for value in ("'two'", "x'ff'", "CAST(x'ff' AS TEXT)", "2.5", "9")),
        *(("audit_head", "hash", value) for value in ("x'ff'", "CAST(x'ff' AS TEXT)", "7")),
        ("event_subjects", "subject", "CAST(x'ff' AS TEXT)"),
    ],
)
def test_whatever_sqlite_can_hold_is_named_and_stops_no_check(
    tmp_path: Path, table: str, column: str, value: str
) -> None:
    database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    for _ in range(3):
        with database.write() as session:
            audit.append(session, "entry.flagged", data={"entry": "eaaaaaaaaaaa"})
    which = "" if table == "audit_head" else "WHERE seq = 2"
    _tamper(database, "PRAGMA ignore_check_constraints = 1", f"UPDATE {table} SET {column} = {value} {which}")
    found = _verify(database)
    assert found in ((2, 3, 4) if table == "audit_head" else (2,))
    database.close()


def test_a_body_that_nests_without_end_is_named(database: Database) -> None:
    body = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    digest = audit.link(audit.GENESIS, body)
    row = {"seq": 1, "prev_hash": audit.GENESIS, "hash": digest, "kind": "test", "body": body}
    with database.write() as session:
        session.execute(insert(AuditEvent).values(**row))
        session.execute(update(AuditHead).values(seq=1, hash=digest))
    assert _verify(database) == 1


def test_the_head_cannot_be_removed(database: Database) -> None:
    statements = ["DELETE FROM audit_head"]
    if database.engine.dialect.name == "postgresql":
        statements.append("TRUNCATE audit_head")
    for statement in statements:
        with pytest.raises(DatabaseError, match="may not be changed"), database.write() as session:
            session.execute(text(statement))


def test_a_head_that_was_removed_all_the_same_is_said_and_stops_every_append(database: Database) -> None:
    _append(database, 2)
    _tamper(database, "DELETE FROM audit_head")
    with database.read() as session:
        found = audit.verify(session)
        assert found is not None and found.seq == 3 and "audit_head" in found.why
        with pytest.raises(audit.HeadMissing, match="audit_head"):
            audit.head(session)
    with pytest.raises(audit.HeadMissing):
        _append(database, 1)
