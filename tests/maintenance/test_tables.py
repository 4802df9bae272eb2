"""Bad rows cannot be stored, whatever code tries to."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import DatabaseError

from storage.database import Database
from storage.models.core import Base
from storage.models.moderation import Edit, ImportedLabels, Moderation, ServiceFlag
from storage.models.operations import Backup, ReportedResult
from storage.models.queue import Task
from tests.databases import IMPORTED, submitted

A = "a" * 64
TASK = {"kind": "rescore.preview", "subject": "v2", "params": {}, "reason": "x", "requested_by": "local"}
BAD: list[tuple[type[Base], dict[str, Any]]] = [
    (Moderation, {"withdrawn_at": 1.0}),
    (Moderation, {"withdrawn_reason": "x"}),
    (Moderation, {"withdrawn_at": 1.0, "withdrawn_reason": ""}),
    (Moderation, {"flag": ""}),
    (Moderation, {"flag": "x" * 501}),
    (Edit, {"editor": "", "was": {}, "became": {}}),
    (ServiceFlag, {"name": "", "message": "x"}),
    (ServiceFlag, {"name": "x", "message": ""}),
    (Task, {**TASK, "subject": ""}),
    (Task, {**TASK, "state": "lost"}),
    (Task, {**TASK, "state": "running"}),
    (Task, {**TASK, "state": "done", "finished_at": 1.0}),
    (Task, {**TASK, "state": "failed", "finished_at": 1.0}),
    (Task, {**TASK, "result": "{}"}),
    (Task, {**TASK, "attempts": 1}),
    (ImportedLabels, {**IMPORTED, "items": 0}),
    (ImportedLabels, {**IMPORTED, "digest": "A" * 64}),
    (ImportedLabels, {**IMPORTED, "commitment": "a"}),
    (ImportedLabels, {**IMPORTED, "disclosure": "some"}),
    (ImportedLabels, {**IMPORTED, "retired_at": 1.0}),
    (ImportedLabels, {**IMPORTED, "salt": A}),
]

REPORTED = {"id": "r-x", "benchmark": "demo", "facts": {"name": "x"}, "imported_by": "local"}
BAD += [
    (ReportedResult, {**REPORTED, "id": "e00000000000"}),
    (ReportedResult, {**REPORTED, "benchmark": ""}),
    (Backup, {"name": ""}),
    (Backup, {"name": "x", "finished_at": 1.0}),
    (Backup, {"name": "x", "sha256": A}),
]


def test_bad_rows_are_refused(database: Database) -> None:
    (entry,) = submitted(database, 1)
    for row, values in BAD:
        whole = {**values, "submission_id": entry} if row in (Moderation, Edit) else values
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(row(**whole))


def test_one_task_of_a_kind_and_subject_and_one_apply_may_be_open(database: Database) -> None:
    with database.write() as session:
        session.add_all([Task(**TASK), Task(**{**TASK, "kind": "rescore.apply"})])
    for kind, subject in (("rescore.preview", "v2"), ("rescore.apply", "v3")):
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(Task(**{**TASK, "kind": kind, "subject": subject}))
    with database.write() as session:
        session.add(Task(**{**TASK, "subject": "v3"}))
