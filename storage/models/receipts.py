"""Subjects of audit events."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from storage.models.core import Base, Words


class EventSubject(Base):
    """Subjects of audit events: an index, made with each event and never hashed."""

    __tablename__ = "event_subjects"
    subject: Mapped[Words] = mapped_column(
        primary_key=True
    )  # an entry's id, or as audit.labels and audit.board have it
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
