"""Taking a submission: once, completely, or not at all."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select

from auth import LOCAL
from storage.database import Database, open_database
from storage.integrity import audit
from storage.models.core import AuditEvent, Submission
from storage.models.queue import Job
from submissions.metadata import parse_metadata
from submissions.refusals import DuplicateName, FileRejected
from submissions.service import ACCEPTED
from tests.databases import new_database
from tests.factories.submission_service import SubmissionSetup, make_setup, native, person
from vlrb.client.jws import event_of, read

JUDGE = parse_metadata({"model": "Judge"})


def count(database: Database, table: type) -> int:
    with database.read() as session:
        return session.execute(select(func.count()).select_from(table)).scalar_one()


def test_a_good_file_is_kept_recorded_queued_and_acknowledged(setup: SubmissionSetup, database: Database) -> None:
    data = native(setup.items, k=3)
    accepted = setup.intake.submit(setup.arrive(data), JUDGE, LOCAL)
    digest = hashlib.sha256(data).hexdigest()
    assert (setup.uploads / digest[:2] / digest).read_bytes() == data
    with database.read() as session:
        row = session.get_one(Submission, accepted.id)
        assert (row.model, row.owner, row.votes_per_item, row.content_sha256) == ("Judge", "local", 3, digest)
        job = session.execute(select(Job)).scalar_one()
        assert (job.submission_id, job.label_revision, job.state) == (accepted.id, "r1", "queued")
        assert audit.verify(session) is None
    said = event_of(accepted.receipt)
    assert (said["votes_per_item"], said["items"], said["votes"], said["bytes"]) == (3, 21, 63, len(data))
    assert (said["content_sha256"], said["format"], said["owner"]) == (digest, "native", "local")


def test_the_receipt_names_its_place_in_the_audit_chain(setup: SubmissionSetup, database: Database) -> None:
    accepted = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, LOCAL)
    body = event_of(accepted.receipt)
    with database.read() as session:
        event = session.get_one(AuditEvent, body["seq"])
    assert read(accepted.receipt) == {"event": event.body, "prev": event.prev_hash, "hash": event.hash}
    assert (body["ev"], body["submission"]) == (ACCEPTED, accepted.id)
    assert {"content_sha256", "votes_sha256", "owner", "items", "votes", "accepted_at"} < set(body)


def test_the_same_bytes_again_are_the_same_submission_and_are_not_read_again(
    setup: SubmissionSetup, database: Database
) -> None:
    first = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, LOCAL)
    again = setup.intake.submit(setup.arrive(native(setup.items)), parse_metadata({"model": "Another name"}), LOCAL)
    assert (again.id, again.receipt) == (first.id, first.receipt)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert len(setup.reads) == 1
    assert count(database, Submission) == count(database, Job) == 1


def test_the_same_bytes_from_another_owner_are_another_submission(setup: SubmissionSetup, database: Database) -> None:
    one = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, person("one"))
    two = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, person("two"))
    assert one.id != two.id
    assert count(database, Submission) == 2


def test_copies_that_reach_several_processes_at_once_make_one_submission(
    setup: SubmissionSetup, database: Database, database_url: str, tmp_path: Path
) -> None:
    """Desks that share no lock stand for processes: only the database decides."""
    databases = [open_database(database_url) for _ in range(8)]
    folders = [tmp_path / f"process{number}" for number in range(8)]
    for folder in folders:
        folder.mkdir()
    desks = [make_setup(one, folder) for one, folder in zip(databases, folders, strict=True)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda one: one.intake.submit(one.arrive(native(one.items)), JUDGE, LOCAL), desks))
    for one in databases:
        one.close()
    assert {one.receipt for one in taken} == {taken[0].receipt}
    assert count(database, Submission) == 1
    with database.read() as session:
        events = session.execute(select(func.count()).where(AuditEvent.kind == ACCEPTED)).scalar_one()
        assert (events, audit.verify(session)) == (1, None)


def test_another_file_under_a_used_name_is_refused_with_the_remedy(setup: SubmissionSetup, database: Database) -> None:
    first = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, LOCAL)
    with pytest.raises(DuplicateName, match="another version") as caught:
        setup.intake.submit(setup.arrive(native(setup.items, choice=1)), JUDGE, LOCAL)
    assert caught.value.facts["existing"] == first.id
    assert caught.value.facts["problems"][0]["field"] == "version"
    other = parse_metadata({"model": "Judge", "version": "2"})
    assert setup.intake.submit(setup.arrive(native(setup.items, choice=1)), other, LOCAL).id != first.id
    assert count(database, Submission) == 2


def test_a_file_with_problems_leaves_nothing_behind(setup: SubmissionSetup, database: Database) -> None:
    data = native(setup.items).split(b"\n", 1)[1]  # one item is missing
    with pytest.raises(FileRejected) as caught:
        setup.intake.submit(setup.arrive(data), JUDGE, LOCAL)
    assert caught.value.report["ok"] is False
    assert caught.value.report["problems"]
    assert count(database, Submission) == count(database, Job) == 0
    assert not setup.uploads.exists()


def test_before_any_worker_has_started_a_submission_waits_without_a_job(tmp_path: Path) -> None:
    database = new_database(f"sqlite:///{tmp_path}/x.db")
    setup = make_setup(database, tmp_path)
    accepted = setup.intake.submit(setup.arrive(native(setup.items)), JUDGE, LOCAL)
    assert accepted.id.startswith("e")
    assert count(database, Job) == 0
    database.close()
