"""Bad rows cannot be stored, whatever code tries to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from storage.database import Database
from storage.models.core import (
    AuditHead,
    Base,
    BoardState,
    Score,
    StoredRelations,
    Submission,
    UnfitText,
    new_entry_id,
)
from storage.models.moderation import ImportedLabels
from storage.models.queue import Job, Task
from storage.models.review import Annotation, AnnotationProject, Annotator, Dispute, ProjectItem
from tests.databases import BOTH, IMPORTED, a_submission, empty_of_kind, new_database, submitted, with_labels

A, B = "a" * 64, "b" * 64


@pytest.fixture(scope="module", params=BOTH)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Yield a database with a label set, for tests that leave nothing behind: what they store is refused."""
    opened = new_database(empty_of_kind(request, tmp_path_factory.mktemp("shared")))
    with_labels(opened)
    submitted(opened, 1)
    yield opened
    opened.close()


@pytest.mark.parametrize("value", ["a\x00b", "\ud800"])
@pytest.mark.parametrize("column", ["model", "notes", "file_name"])
def test_text_that_only_one_database_could_hold_is_refused_by_both(shared: Database, column: str, value: str) -> None:
    with pytest.raises(UnfitText), shared.write() as session:
        session.add(a_submission(99, **{column: value}))


@pytest.mark.parametrize("same", [{"content_sha256": A}, {"model": "judge", "version": "1"}])
def test_an_owner_has_a_file_once_and_a_model_version_once(database: Database, same: dict[str, Any]) -> None:
    with database.write() as session:
        session.add(a_submission(1, **same))
        session.add(a_submission(2, **same, owner="somebody else"))
        session.add(a_submission(3, **same, benchmark="another"))
    with pytest.raises(IntegrityError), database.write() as session:
        session.add(a_submission(4, **same))


def _the_submission(shared: Database) -> str:
    with shared.read() as session:
        return session.execute(select(Submission.id)).scalar_one()


RELATIONS: dict[str, Any] = {
    "id": A, "inputs": B, "benchmark": "demo", "label_revision": "demo", "summary": "{}", "body": b"x",
}  # fmt: skip
JOB: dict[str, Any] = {"benchmark": "demo", "label_revision": "demo", "scorer_version": "1"}
RUNNING: dict[str, Any] = {"state": "running", "worker": "w", "started_at": 1.0, "lease_until": 2.0, "epoch": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"state": "lost"},
        {"attempts": -1},
        {"attempts": 1, "epoch": 0},
        {"lease_until": 1.0},
        {**RUNNING, "lease_until": None},
        {**RUNNING, "worker": None},
        {**RUNNING, "started_at": None},
        {**RUNNING, "epoch": 0},
        {**RUNNING, "finished_at": 3.0},
        {"state": "done"},
        {"finished_at": 1.0},
        {"state": "failed", "finished_at": 1.0},
        {"label_revision": "unknown"},
        {"submission_id": "eaaaaaaaaaaa"},
        {"benchmark": "other"},  # than the submission's
    ],
    ids=str,
)
def test_a_bad_job_is_refused(shared: Database, change: dict[str, Any]) -> None:
    submission = _the_submission(shared)
    with pytest.raises(IntegrityError), shared.write() as session:
        session.execute(insert(Job), [{"submission_id": submission} | JOB | change])


def test_there_is_one_job_and_one_score_per_submission_revision_and_scorer(database: Database) -> None:
    with_labels(database)
    (submission,) = submitted(database, 1)
    for table, more in ((Job, {}), (Score, {"tally": "{}"})):
        with database.write() as session:
            session.execute(insert(table), [{"submission_id": submission, **JOB, **more}])
        with pytest.raises(IntegrityError), database.write() as session:
            session.execute(insert(table), [{"submission_id": submission, **JOB, **more}])


@pytest.mark.parametrize(
    ("table", "values"),
    [
        (Score, {"submission_id": "eaaaaaaaaaaa", **JOB, "tally": "{}"}),
        (AuditHead, {"id": 2, "seq": 0, "hash": A}),
        (BoardState, JOB),  # a benchmark has one board
        (BoardState, {**JOB, "benchmark": "other"}),
        (BoardState, {**JOB, "label_revision": "unknown"}),
        (StoredRelations, {**RELATIONS, "label_revision": "unknown"}),
    ],
    ids=lambda value: value.__tablename__ if isinstance(value, type) else str(value)[:60],
)
def test_other_bad_rows_are_refused(shared: Database, table: type[Base], values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), shared.write() as session:
        session.execute(insert(table).values(**values))


def test_open_weights_is_yes_no_or_unknown(database: Database) -> None:
    submitted(database, 1, open_weights=True)
    # SQLite says that a rule was broken, PostgreSQL that the type is wrong.
    with pytest.raises(DatabaseError), database.write() as session:
        session.execute(text("UPDATE submissions SET open_weights = 2"))


@pytest.mark.parametrize("change", ["withdrawn_at = 1.0", "withdrawn_reason = 'x'"])
def test_a_withdrawal_has_a_date_and_a_reason(database: Database, change: str) -> None:
    submitted(database, 1)
    with pytest.raises(DatabaseError), database.write() as session:
        session.execute(text(f"UPDATE submissions SET {change}"))


TASK = {"kind": "rescore.preview", "subject": "v2", "params": {}, "reason": "x", "requested_by": "local"}
MODERATION: list[tuple[type[Base], dict[str, Any]]] = [
    (Task, {**TASK, "state": "lost"}),
    (Task, {**TASK, "state": "running"}),
    (Task, {**TASK, "state": "done", "finished_at": 1.0}),
    (Task, {**TASK, "state": "failed", "finished_at": 1.0}),
    (Task, {**TASK, "result": "{}"}),
    (Task, {**TASK, "attempts": 1}),
    (ImportedLabels, {**IMPORTED, "disclosure": "some"}),
    (ImportedLabels, {**IMPORTED, "retired_at": 1.0}),
    (ImportedLabels, {**IMPORTED, "salt": A}),
]


def test_bad_rows_of_maintenance_are_refused(database: Database) -> None:
    for row, values in MODERATION:
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(row(**values))


def test_one_task_of_a_kind_and_subject_and_one_apply_may_be_open(database: Database) -> None:
    with database.write() as session:
        session.add_all([Task(**TASK), Task(**{**TASK, "kind": "rescore.apply"})])
    for kind, subject in (("rescore.preview", "v2"), ("rescore.apply", "v3")):
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(Task(**{**TASK, "kind": kind, "subject": subject}))
    with database.write() as session:
        session.add(Task(**{**TASK, "subject": "v3"}))


DISPUTE = {"benchmark": "demo", "item": "k", "account": "local", "better": "a", "reason": "x" * 20}
DECIDED = {"state": "accepted", "decided_at": 1.0, "decided_by": "local", "note": "x"}
PROJECT = {"benchmark": "demo", "name": "may", "base_revision": "v2", "reason": "x", "created_by": "local",
    "answers_wanted": 2}  # fmt: skip
ANSWER = {"project_id": 1, "account": "local", "item": "k", "verdict": "a", "errors": [], "note": ""}
REVIEW: list[tuple[type[Base], dict[str, Any]]] = [
    (Dispute, {**DISPUTE, "state": "lost"}),
    (Dispute, {**DISPUTE, "state": "accepted"}),
    (Dispute, {**DISPUTE, "note": "x"}),
    (Dispute, {**DISPUTE, **DECIDED, "note": None}),
    (Dispute, DISPUTE),  # a second open one
    (AnnotationProject, PROJECT),
    (AnnotationProject, {**PROJECT, "name": "june", "closed_at": 1.0}),
    (ProjectItem, {"project_id": 1, "place": 2, "item": "k"}),
    (ProjectItem, {"project_id": 9, "place": 1, "item": "k"}),
    (Annotator, {"project_id": 9, "account": "local", "number": 0}),
    (Annotator, {"project_id": 1, "account": "other", "number": 0}),
    (Annotation, {**ANSWER, "account": "nobody"}),
    (Annotation, {**ANSWER, "item": "other"}),
]


def test_bad_rows_of_reviews_are_refused_and_good_ones_are_not(database: Database) -> None:
    good: list[Base] = [
        Dispute(**DISPUTE),
        Dispute(**DISPUTE, **DECIDED),
        AnnotationProject(**PROJECT, id=1),
        ProjectItem(project_id=1, place=1, item="k"),
        Annotator(project_id=1, account="local", number=0),
    ]
    for row in good:
        with database.write() as session:
            session.add(row)
    for kind, values in REVIEW:
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(kind(**values))
    with database.write() as session:
        session.add(Annotation(**ANSWER))


def test_entry_ids_are_short_lower_case_and_random() -> None:
    ids = {new_entry_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(name) == 12 and name[0] == "e" and name.isalnum() and name == name.lower() for name in ids)
