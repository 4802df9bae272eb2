"""Stored rows agree with the audit chain whatever the service did; whatever was changed beside it is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from maintenance.actions import audit as actions_audit
from maintenance.actions import entries, operations
from receipts import api
from receipts.service import ReceiptService
from storage.database import Database, open_database
from storage.integrity import audit, integrity_alarms, row_commitments
from storage.integrity import integrity_check as integrity
from storage.integrity.integrity_alarms import RecordChanged
from storage.integrity.row_commitments import TALLY, ScoreFacts
from storage.labels import label_levels
from storage.models.core import AuditEvent, Score, Submission
from submissions.metadata import parse_metadata
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import LOCAL, MAINTAINER, OWNER_OF_IT, STRANGER
from tests.factories.actions import by
from tests.factories.specs import spec_of
from tests.factories.submission_service import SIGNER, signed_in_as_everybody
from vlrb.client.jws import read
from vlrb.commitments import sha256
from vlrb.common.canonical_json import canonical_json
from workers.jobs.rescore import rescore
from workers.jobs.score import ScoringOutcome, score_next
from workers.jobs.snapshot import publish_if_changed
from workers.labels.store import LabelRegistry, LabelStore
from workers.startup import prepare
from workers.task_runner import TaskRunner

DETAILS = {"parameters_b": 7, "temperature": 0.1, "open_weights": True, "notes": "ä\u2028", "organisation": "Lab"}


def _lived_in(database: Database) -> list[str]:
    """Eight entries: scored alone or in bulk, edited, transferred, withdrawn, anonymous, unpublished,
    waiting."""
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    ids = small_benchmark.submit(database, range(8), queued=True, owner=OWNER_OF_IT.account)
    with database.write() as session:
        for name, values in zip(
            ids[5:], ({"anonymous_until": 4e9}, {"held_back_at": 1.0}, {"approval": "waiting"}), strict=True
        ):
            session.execute(update(Submission).where(Submission.id == name).values(**values))
    while score_next(database, [scorer], worker="w", lease_seconds=60) is ScoringOutcome.SCORED:
        pass
    rescore(database, scorer, revision="flipped", chunk=3)
    edited = entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[0], DETAILS)  # type: ignore[arg-type]
    assert edited.changed
    assert entries.edit(
        by(database, MAINTAINER, parse=parse_metadata), ids[0], {"notes": "", "parameters_b": 7.5}
    ).changed  # type: ignore[arg-type]
    entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[5], DETAILS)  # type: ignore[arg-type]
    entries.transfer(by(database, MAINTAINER), ids[1], LOCAL.account, "asked for")
    entries.withdraw(by(database, OWNER_OF_IT), ids[4], "a mistake")
    small_benchmark.settled(database, scorer)
    entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[3], {"notes": "after the snapshot"})  # type: ignore[arg-type]
    return ids


def _found(database: Database) -> list[str]:
    with database.read() as session:
        return [one.sentence for one in integrity.check(session)]


def test_whatever_the_service_did_agrees_with_the_chain(database: Database) -> None:
    _lived_in(database)
    assert _found(database) == []
    found = actions_audit.verify(by(database, MAINTAINER))
    assert (found.ok, found.rows) == (True, ())


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    path = tmp_path_factory.mktemp("lived") / "leaderboard.db"
    database = new_database(f"sqlite:///{path}")
    ids = _lived_in(database)
    database.close()
    return path, ids


@pytest.fixture
def copied(lived_in: tuple[Path, list[str]], tmp_path: Path) -> Iterator[Database]:
    """Yield a copy that a test may falsify, without the triggers that refuse it."""
    path = tmp_path / "leaderboard.db"
    shutil.copy(lived_in[0], path)
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    database = open_database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture
def ids(lived_in: tuple[Path, list[str]]) -> list[str]:
    return lived_in[1]


def _do(database: Database, statement: str, *values: object) -> None:
    with sqlite3.connect(str(database.engine.url.database)) as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


FIRST = "submission_id = :entry AND label_revision = 'demo'"
FALSIFIED = {
    "a tally": (f"UPDATE scores SET tally = replace(tally, '[3,', '[4,') WHERE {FIRST}", "scores", "the tally"),
    "a tally of a chunk": (
        "UPDATE scores SET tally = replace(tally, '[3,', '[4,') "
        "WHERE submission_id = :entry AND label_revision = 'flipped'",
        "scores",
        "the tally",
    ),
    "another entry's score": (
        "UPDATE scores SET (tally, salt) = (SELECT tally, salt FROM scores WHERE label_revision = 'demo' "
        f"AND submission_id <> :entry ORDER BY id DESC LIMIT 1) WHERE {FIRST}",
        "scores",
        "the tally",
    ),
    "a salt": (f"UPDATE scores SET salt = '{'0' * 64}' WHERE {FIRST}", "scores", "the tally"),
    "the date of a score": (f"UPDATE scores SET created_at = created_at - 1 WHERE {FIRST}", "scores", "its date"),
    "votes": ("UPDATE submissions SET votes = zeroblob(length(votes)) WHERE id = :entry", "submissions", "votes"),
    "votes that are none": ("UPDATE submissions SET votes = 'x' WHERE id = :entry", "submissions", "votes"),
    "a parse rate": ("UPDATE submissions SET parse_rate = 0.5 WHERE id = :entry", "submissions", "votes"),
    "a digest": (f"UPDATE submissions SET content_sha256 = '{'0' * 64}' WHERE id = :entry", "submissions", "votes"),
    "an owner": ("UPDATE submissions SET owner = 'athief000000' WHERE id = :entry", "submissions", "the owner"),
    "a name": ("UPDATE submissions SET model = 'Best' WHERE id = :entry", "submissions", "the description"),
}


@pytest.mark.parametrize("what", FALSIFIED)
def test_a_falsified_row_of_an_entry_is_named(copied: Database, ids: list[str], what: str) -> None:
    statement, table, why = FALSIFIED[what]
    for entry in ids[:2]:  # edited since, and transferred since
        with sqlite3.connect(str(copied.engine.url.database)) as connection:
            assert connection.execute(statement, {"entry": entry}).rowcount == 1
        connection.close()
        named = [one for one in _found(copied) if not one.startswith("snapshots")]
        assert [one for one in named if entry in one and one.startswith(table) and why in one], named
        receipts = ReceiptService(copied, spec_of("demo"), signer=SIGNER)
        if why == "the tally" or what == "a digest":  # which a receipt would state
            with pytest.raises(RecordChanged):
                receipts.of_scores(entry, LOCAL)
    assert receipts.of_scores(ids[3], LOCAL)  # the others' receipts are signed as before


OTHER = zlib.compress(b"{}")
ELSEWHERE: list[tuple[str, str, tuple[object, ...]]] = [
    ("label_sets demo", "UPDATE label_sets SET digest = ? WHERE revision = 'demo'", ("0" * 64,)),
    ("label_sets demo", "UPDATE label_sets SET salt = ? WHERE revision = 'demo'", ("0" * 64,)),
    ("board demo", "UPDATE board SET label_revision = 'flipped'", ()),
    ("board demo", "UPDATE board SET rules = ''", ()),
    ("board demo", "UPDATE board SET snapshot_id = (SELECT id FROM snapshots ORDER BY through_seq LIMIT 1)", ()),
    ("snapshots", "UPDATE snapshots SET body = ?", (OTHER,)),
    ("snapshots", "UPDATE snapshots SET body = ?", (b"no zlib",)),
    ("relations", "UPDATE relations SET body = ? WHERE label_revision = 'demo'", (OTHER,)),
    ("relations", "UPDATE relations SET summary = '{}' WHERE label_revision = 'demo'", ()),
    ("submissions", "DELETE FROM submissions WHERE id = (SELECT max(id) FROM submissions)", ()),
    ("scores", "DELETE FROM scores WHERE id = 3", ()),
    (
        "submissions",
        "UPDATE submissions SET model = CAST(x'ff' AS TEXT) WHERE id = (SELECT max(id) FROM submissions)",
        (),
    ),
]


@pytest.mark.parametrize(("row", "statement", "values"), ELSEWHERE)
def test_falsified_labels_board_and_caches_are_named(
    copied: Database, row: str, statement: str, values: tuple[object, ...]
) -> None:
    _do(copied, statement, *values)
    found = _found(copied)
    assert any(one.startswith(row) for one in found), found


def test_a_snapshot_that_was_made_of_falsified_rows_is_named_when_these_are_put_back(
    copied: Database, ids: list[str]
) -> None:
    (tally,) = _column(copied, "SELECT tally FROM scores WHERE submission_id = ? AND label_revision = 'demo'", ids[0])
    assert isinstance(tally, str)
    _do(copied, f"UPDATE scores SET tally = replace(tally, '[3,', '[4,') WHERE {FIRST}".replace(":entry", "?"), ids[0])
    assert publish_if_changed(copied, small_benchmark.scorer(), anew=True) is not None
    _do(copied, f"UPDATE scores SET tally = ? WHERE {FIRST}".replace(":entry", "?"), tally, ids[0])
    (found,) = _found(copied)
    assert found.startswith("snapshots")
    assert f"it shows other scores of entry {ids[0]}" in found


def _column(database: Database, statement: str, *values: object) -> list[object]:
    with sqlite3.connect(str(database.engine.url.database)) as connection:
        found = [row[0] for row in connection.execute(statement, values)]
    connection.close()
    return found


def test_an_event_that_was_rewritten_to_fit_refuses_the_receipt_too(copied: Database, ids: list[str]) -> None:
    """Tally and event changed together: the link is broken, unless the whole chain is made anew."""
    with copied.read() as session:
        score = session.scalars(select(Score).filter_by(submission_id=ids[0], label_revision="demo")).one()
        content = session.get_one(Submission, ids[0]).content_sha256
        event = session.scalars(
            select(AuditEvent).where(AuditEvent.kind == audit.SCORED, AuditEvent.body.contains(ids[0]))
        ).one()
    tally = score.tally.replace("[3,", "[4,")
    body = json.loads(event.body)
    facts = ScoreFacts("demo", ids[0], content, "demo", score.scorer_version)
    forged = row_commitments.of_score(facts, tally=tally, salt=str(score.salt))
    text = canonical_json({**body, "commitments": [forged]})
    _do(copied, "UPDATE scores SET tally = ? WHERE id = ?", tally, score.id)
    hashed = audit.link(event.prev_hash, text)
    _do(copied, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", text, hashed, event.seq)
    with pytest.raises(RecordChanged):
        ReceiptService(copied, spec_of("demo"), signer=SIGNER).of_scores(ids[0], LOCAL)
    assert actions_audit.verify(by(copied, MAINTAINER)).broken_at == event.seq + 1


def _alarm(database: Database) -> str:
    """Return what `health` says of changed rows."""
    found = operations.health(by(database, MAINTAINER)).alarms
    return " ".join(alarm.sentence for alarm in found if alarm.code == "rows-changed")


def test_a_refused_receipt_is_an_alarm_until_a_daily_check_finds_nothing(copied: Database, ids: list[str]) -> None:
    receipts = ReceiptService(copied, spec_of("demo"), signer=SIGNER)
    (tally,) = _column(copied, "SELECT tally FROM scores WHERE submission_id = ? AND label_revision = 'demo'", ids[0])
    _do(copied, f"UPDATE scores SET tally = replace(tally, '[3,', '[4,') WHERE {FIRST}".replace(":entry", "?"), ids[0])
    app = FastAPI()
    app.include_router(api.build(receipts))
    with TestClient(signed_in_as_everybody(app, copied)) as http:
        refused = [http.get(f"/api/v1/entries/{ids[0]}/receipts") for _ in range(3)]
    assert {(one.status_code, one.json()["code"]) for one in refused} == {(500, "record-changed")}
    with copied.read() as session:
        assert len(audit.newest(session, [integrity_alarms.FAILED])) == 1  # once, however often it is asked for
    assert f"entry {ids[0]}" in _alarm(copied)
    _do(copied, f"UPDATE scores SET tally = ? WHERE {FIRST}".replace(":entry", "?"), tally, ids[0])
    assert receipts.of_scores(ids[0], LOCAL)
    assert _alarm(copied)
    assert integrity_alarms.check_daily(copied) == []
    assert not _alarm(copied)
    assert operations.health(by(copied, MAINTAINER)).integrity_checked_at is not None


def test_a_worker_checks_once_a_day_and_health_raises_the_alarm(
    copied: Database, ids: list[str], tmp_path: Path
) -> None:
    scorer = small_benchmark.scorer()
    setup = TaskRunner(
        copied,
        scorer,
        registry=LabelRegistry(scorer.labels),
        store=LabelStore(tmp_path, scorer.table),
        worker="w",
        lease_seconds=60,
    )
    setup.check_rows()
    _do(copied, "UPDATE submissions SET owner = 'athief000000' WHERE id = ?", ids[0])
    setup.check_rows()  # it is not due
    assert not _alarm(copied)
    with copied.write() as session:
        (last,) = audit.newest(session, [integrity_alarms.CHECKED])
        old = canonical_json({**last.body, "at": "2020-01-01T00:00:00.000000Z"})
    _do(copied, "UPDATE events SET body = ? WHERE seq = ?", old, last.seq)
    setup.check_rows()
    assert _alarm(copied)
    with copied.read() as session:
        raised = integrity_alarms.alarm(session)
    assert raised is not None
    assert any(f"submissions {ids[0]}: the owner is another one" in one for one in raised.sentences)
    assert set(raised.sentences) == set(actions_audit.verify(by(copied, MAINTAINER)).problems)


def _hide(database: Database) -> None:
    with database.write() as session:
        for revision in ("demo", "flipped"):
            label_levels.state(session, "demo", revision=revision, level="hidden")


def test_the_event_of_a_hidden_score_cannot_be_tried_out(copied: Database, ids: list[str]) -> None:
    """Anyone who knows every tally, but no salt, finds no digest of it in what is published."""
    _hide(copied)
    given = ReceiptService(copied, spec_of("demo"), signer=SIGNER).of_scores(ids[0], STRANGER)
    assert given
    shown = "".join(json.dumps(read(one)) for one in given) + "".join(actions_audit.public(copied))
    with copied.read() as session:
        for score in session.scalars(select(Score)):
            salt = str(score.salt)
            closed = (score.tally, sha256(score.tally), salt, row_commitments.part_salt(salt, TALLY))
            assert not any(secret in shown for secret in closed)
