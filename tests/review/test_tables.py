"""Bad rows about reviews cannot be stored, whatever code tries to."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import DatabaseError

from storage.database import Database
from storage.models.core import Base
from storage.models.review import Annotation, AnnotationProject, Annotator, Dispute, ProjectItem

DISPUTE = {"benchmark": "demo", "item": "k", "account": "local", "better": "a", "reason": "x" * 20}
DECIDED = {"state": "accepted", "decided_at": 1.0, "decided_by": "local", "note": "x"}
PROJECT = {"benchmark": "demo", "name": "may", "base_revision": "v2", "reason": "x", "created_by": "local",
    "answers_wanted": 2}  # fmt: skip
ANSWER = {"project_id": 1, "account": "local", "item": "k", "verdict": "a", "errors": [], "note": ""}
BAD: list[tuple[type[Base], dict[str, Any]]] = [
    (Dispute, {**DISPUTE, "better": "0"}),
    (Dispute, {**DISPUTE, "tag": "spelling"}),
    (Dispute, {**DISPUTE, "reason": "x" * 19}),
    (Dispute, {**DISPUTE, "reason": "x" * 2001}),
    (Dispute, {**DISPUTE, "account": ""}),
    (Dispute, {**DISPUTE, "state": "lost"}),
    (Dispute, {**DISPUTE, "state": "accepted"}),
    (Dispute, {**DISPUTE, "note": "x"}),
    (Dispute, {**DISPUTE, **DECIDED, "note": None}),
    (Dispute, {**DISPUTE, **DECIDED, "note": "x" * 501}),
    (Dispute, DISPUTE),  # a second open one
    (AnnotationProject, {**PROJECT, "name": ""}),
    (AnnotationProject, PROJECT),
    (AnnotationProject, {**PROJECT, "name": "june", "closed_at": 1.0}),
    (AnnotationProject, {**PROJECT, "name": "june", "answers_wanted": 0}),
    (ProjectItem, {"project_id": 1, "place": 0, "item": "other"}),
    (ProjectItem, {"project_id": 1, "place": 2, "item": "other", "gold": "first"}),
    (ProjectItem, {"project_id": 1, "place": 2, "item": "k"}),
    (ProjectItem, {"project_id": 9, "place": 1, "item": "k"}),
    (Annotator, {"project_id": 9, "account": "local", "number": 0}),
    (Annotator, {"project_id": 1, "account": "other", "number": 0}),
    (Annotation, {**ANSWER, "verdict": "first"}),
    (Annotation, {**ANSWER, "note": "x" * 501}),
    (Annotation, {**ANSWER, "account": "nobody"}),
    (Annotation, {**ANSWER, "item": "other"}),
]


def test_bad_rows_are_refused_and_good_ones_are_not(database: Database) -> None:
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
    for kind, values in BAD:
        with pytest.raises(DatabaseError), database.write() as session:
            session.add(kind(**values))
    with database.write() as session:
        session.add(Annotation(**ANSWER))
