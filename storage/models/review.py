"""Tables of disputes and annotation projects. Opinions; no label is here.

What depends on labels: the answers that are known to be right for the pairs that test annotators.
"""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import JSON, ForeignKey, ForeignKeyConstraint, Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, Words, check, partial_index

REASON_LENGTHS = (20, 2000)
NOTE_LIMIT = 500
_OPEN = "state = 'open'"
NamesColumn = Annotated[list[str], mapped_column(JSON)]
OptionalJsonColumn = Annotated[dict[str, Any] | None, mapped_column(JSON(none_as_null=True))]


class Dispute(Base):
    """A dispute of an item's label. Decided once."""

    __tablename__ = "disputes"
    __table_args__ = (
        check("state", "state IN ('open', 'accepted', 'rejected')"),
        check(
            "decided",
            "(state = 'open') = (decided_at IS NULL) AND (state = 'open') = (decided_by IS NULL) "
            "AND (state = 'open') = (note IS NULL)",
        ),
        partial_index("uq_disputes_open", "benchmark", "item", "account", unique=True, where=_OPEN),
        Index("ix_disputes_account", "account"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    benchmark: Mapped[Words]
    item: Mapped[Words]  # key
    account: Mapped[Words]
    better: Mapped[Words]  # A and B as on the item's page
    tag: Mapped[Words | None]
    reason: Mapped[Words]
    state: Mapped[Words] = mapped_column(default="open")
    note: Mapped[Words | None]  # of the maintainer, to who disputes
    decided_by: Mapped[Words | None]
    decided_at: Mapped[Instant | None]
    created_at: Mapped[Instant] = mapped_column(default=database_now())


class AnnotationProject(Base):
    """Items that people verify by hand, to draft a revision. Once closed, nothing of it changes."""

    __tablename__ = "verification_projects"
    __table_args__ = (
        UniqueConstraint("benchmark", "name"),
        check("closed", "(closed_at IS NULL) = (closed_by IS NULL)"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    benchmark: Mapped[Words]
    name: Mapped[Words]
    base_revision: Mapped[Words]  # "": its pairs are those of a file
    answers_wanted: Mapped[int]  # of each pair
    guidelines: Mapped[Words] = mapped_column(default="")
    folder: Mapped[Words] = mapped_column(default="")  # where images of the file's pairs lie
    reason: Mapped[Words]
    created_by: Mapped[Words]
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    closed_by: Mapped[Words | None]
    closed_at: Mapped[Instant | None]


class ProjectItem(Base):
    """An item of a project and its place, from 1."""

    __tablename__ = "verification_items"
    __table_args__ = (UniqueConstraint("project_id", "item"),)
    project_id: Mapped[int] = mapped_column(ForeignKey("verification_projects.id"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    item: Mapped[Words]  # key
    gold: Mapped[Words | None]  # the verdict that is known to be right; it tests annotators
    text: Mapped[OptionalJsonColumn]  # of a pair of a file: PairText


class Annotator(Base):
    """Annotators of a project."""

    __tablename__ = "verification_annotators"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    project_id: Mapped[int] = mapped_column(ForeignKey("verification_projects.id"), primary_key=True)
    account: Mapped[Words] = mapped_column(primary_key=True)
    number: Mapped[int]  # from 0; of two who follow one another, one sees A first and one sees B first
    left_out: Mapped[bool] = mapped_column(default=False)  # its answers do not count


class Annotation(Base):
    """An annotator's answer to an item of a project; the last one counts."""

    __tablename__ = "verification_answers"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "account"], ["verification_annotators.project_id", "verification_annotators.account"]
        ),
        ForeignKeyConstraint(["project_id", "item"], ["verification_items.project_id", "verification_items.item"]),
    )
    project_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    account: Mapped[Words] = mapped_column(primary_key=True)
    item: Mapped[Words] = mapped_column(primary_key=True)
    verdict: Mapped[Words]  # A and B as on the item's page, whatever came first for this annotator
    errors: Mapped[NamesColumn]
    note: Mapped[Words]
    answered_at: Mapped[Instant] = mapped_column(default=database_now())
