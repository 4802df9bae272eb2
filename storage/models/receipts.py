"""Tables that receipts follow from: salted commitments to labels, and the subjects of events."""

from __future__ import annotations

from sqlalchemy import ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.models.core import Base, Sha256, Words, check, digest


class LabelCommitment(Base):
    """HMAC-SHA256(salt, digest) of a configured label revision; imported ones have theirs from their import."""

    __tablename__ = "label_commitments"
    __table_args__ = (
        ForeignKeyConstraint(["benchmark", "revision"], ["label_sets.benchmark", "label_sets.revision"]),
        digest("salt"),
        digest("commitment"),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    revision: Mapped[Words] = mapped_column(primary_key=True)
    salt: Mapped[Sha256]  # not public while the labels are not
    commitment: Mapped[Sha256]  # public


class EventSubject(Base):
    """Subjects of audit events: an index, made with each event and never hashed."""

    __tablename__ = "event_subjects"
    __table_args__ = (check("subject", "length(subject) BETWEEN 1 AND 200"),)
    subject: Mapped[Words] = mapped_column(
        primary_key=True
    )  # an entry's id, or as audit.labels and audit.board have it
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
