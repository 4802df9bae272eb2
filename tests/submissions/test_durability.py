"""Durability in receipts: replicated means confirmed by the replica; nothing unconfirmed is acknowledged."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from auth import LOCAL
from receipts.jws import Signer
from storage.database import Database
from storage.files.durability import REPLICATED, Durability, NotReplicated, ReplicaLost
from storage.files.spool import UploadedFile
from storage.files.uploads import StoreOffline, Uploads
from storage.models.core import Submission
from submissions.api import refusal
from submissions.metadata import Metadata
from submissions.service import SubmissionRules, SubmissionService
from tests.databases import new_database, with_labels
from tests.factories.submission_service import BENCHMARK, SubmissionSetup, make_setup, native
from vlrb.client.jws import event_of

JUDGE = Metadata.parse({"model": "Judge"})


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    with_labels(found, "r1", benchmark=BENCHMARK)
    yield found
    found.close()


@pytest.fixture
def setup(database: Database, tmp_path: Path) -> SubmissionSetup:
    return make_setup(database, tmp_path)


def intake(
    setup: SubmissionSetup, database: Database, *, durability: Durability | None = None, uploads: Uploads | None = None
) -> SubmissionService:
    service = setup.intake
    return SubmissionService(
        database,
        uploads or Uploads(setup.uploads),
        read=service._read,
        benchmark=BENCHMARK,
        signer=Signer.make(),
        rules=SubmissionRules(durability=durability),
    )


def file(setup: SubmissionSetup) -> UploadedFile:
    return setup.arrive(native(setup.items))


def test_the_replica_is_asked_after_the_commit(setup: SubmissionSetup, database: Database) -> None:
    seen: list[int] = []

    def look(timeout: float) -> bool:
        other = sqlite3.connect(str(database.engine.url.database))  # as Litestream sees the database
        seen.append(other.execute("SELECT count(*) FROM submissions").fetchone()[0])
        other.close()
        return True

    accepted = intake(setup, database, durability=Durability(REPLICATED, look)).submit(file(setup), JUDGE, LOCAL)
    assert event_of(accepted.receipt)["durability"] == REPLICATED
    assert seen == [1]


def test_without_a_confirmation_there_is_no_receipt_until_there_is_one(
    setup: SubmissionSetup, database: Database
) -> None:
    answers = iter([False, False, True])
    service = intake(setup, database, durability=Durability(REPLICATED, lambda timeout: next(answers)))
    for _ in range(2):
        with pytest.raises(NotReplicated):
            service.submit(file(setup), JUDGE, LOCAL)
    accepted = service.submit(file(setup), JUDGE, LOCAL)
    assert accepted.duplicate, "the first one is there"


def test_the_answer_says_that_sending_again_is_safe() -> None:
    body = refusal(NotReplicated())
    assert (body["status"], body["code"], body["retry_after"]) == (503, "not-replicated", 60)
    assert "send it again" in body["detail"]


def test_a_store_that_hangs_is_said_and_nothing_is_kept(
    setup: SubmissionSetup, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uploads = Uploads(f"s3://board?endpoint=http://127.0.0.1:{silent.getsockname()[1]}")
        service = intake(setup, database, uploads=uploads)
        with pytest.raises(StoreOffline) as refused:
            service.submit(file(setup), JUDGE, LOCAL)
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
    assert (refusal(refused.value)["status"], refusal(refused.value)["code"]) == (503, "store-offline")


def test_a_lost_replica_promises_no_time(setup: SubmissionSetup, database: Database) -> None:
    service = intake(setup, database, durability=Durability(REPLICATED, lambda timeout: False, is_lost=lambda: True))
    with pytest.raises(ReplicaLost) as refused:
        service.submit(file(setup), JUDGE, LOCAL)
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0, "nothing is kept without a receipt"
    body = refusal(refused.value)
    assert (body["status"], body["code"]) == (503, "replica-lost")
    assert "retry_after" not in body


def test_a_replica_that_is_lost_while_it_is_waited_for_promises_no_time(
    setup: SubmissionSetup, database: Database
) -> None:
    lost: list[float] = []

    def wait(timeout: float) -> bool:
        lost.append(timeout)
        return False

    durability = Durability(REPLICATED, wait, is_lost=lambda: bool(lost))
    with pytest.raises(ReplicaLost):
        intake(setup, database, durability=durability).submit(file(setup), JUDGE, LOCAL)
