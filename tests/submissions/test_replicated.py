"""Acknowledgement where there is a replica: nothing unconfirmed gets a receipt."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow.fs import AwsStandardS3RetryStrategy
from sqlalchemy import func, select

from auth import LOCAL
from auth.problem_details import refused_body
from storage.database import Database
from storage.files.spool import UploadedFile
from storage.files.uploads import StoreOffline, Uploads
from storage.models.core import Submission
from submissions.metadata import parse_metadata
from submissions.refusals import NotReplicated
from submissions.service import SubmissionService
from tests.databases import with_labels
from tests.factories.submission_service import BENCHMARK, SIGNER, SubmissionSetup, make_setup, native

JUDGE = parse_metadata({"model": "Judge"})


@pytest.fixture
def database(database: Database) -> Database:
    with_labels(database, "r1", benchmark=BENCHMARK)
    return database


@pytest.fixture
def setup(database: Database, tmp_path: Path) -> SubmissionSetup:
    return make_setup(database, tmp_path)


def intake(
    setup: SubmissionSetup,
    database: Database,
    *,
    replicated: Callable[[], bool] | None = None,
    uploads: Uploads | None = None,
) -> SubmissionService:
    service = setup.intake
    return SubmissionService(
        database,
        uploads or Uploads(setup.uploads),
        read=service.read,
        benchmark=BENCHMARK,
        signer=SIGNER,
        replicated=replicated,
    )


def file(setup: SubmissionSetup) -> UploadedFile:
    return setup.arrive(native(setup.items))


def test_the_replica_is_asked_after_the_commit(setup: SubmissionSetup, database: Database) -> None:
    seen: list[int] = []

    def look() -> bool:
        other = sqlite3.connect(str(database.engine.url.database))  # as Litestream sees the database
        seen.append(other.execute("SELECT count(*) FROM submissions").fetchone()[0])
        other.close()
        return True

    intake(setup, database, replicated=look).submit(file(setup), JUDGE, LOCAL)
    assert seen == [1]


def test_without_a_confirmation_there_is_no_receipt_until_there_is_one(
    setup: SubmissionSetup, database: Database
) -> None:
    answers = iter([False, False, True])
    service = intake(setup, database, replicated=lambda: next(answers))
    for _ in range(2):
        with pytest.raises(NotReplicated):
            service.submit(file(setup), JUDGE, LOCAL)
    accepted = service.submit(file(setup), JUDGE, LOCAL)
    assert accepted.duplicate, "the first one is there"


def test_the_answer_says_that_sending_again_is_safe() -> None:
    body = refused_body(NotReplicated())
    assert (body["status"], body["code"], body["retry_after"]) == (503, "not-replicated", 60)
    assert "send it again" in body["detail"]


def test_a_store_that_hangs_is_said_and_nothing_is_kept(
    setup: SubmissionSetup, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = AwsStandardS3RetryStrategy(max_attempts=1)
    monkeypatch.setattr("pyarrow.fs.AwsStandardS3RetryStrategy", lambda max_attempts: once)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uploads = Uploads(f"s3://board?endpoint=http://127.0.0.1:{silent.getsockname()[1]}")
        service = intake(setup, database, uploads=uploads)
        with pytest.raises(StoreOffline) as refused:
            service.submit(file(setup), JUDGE, LOCAL)
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
    assert (refused_body(refused.value)["status"], refused_body(refused.value)["code"]) == (503, "store-offline")
