"""Tables of attempts and charges that a quota is counted from; each row records the policy in force."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, EntryId, Instant, JsonColumn, Words


class QuotaSubject(Base):
    """The subject of a quota: "account:<id>" or "organisation:<id at the issuer>". Its lock puts attempts in a line."""

    __tablename__ = "quota_subjects"
    subject: Mapped[Words] = mapped_column(primary_key=True)


class Attempt(Base):
    """That a submission was taken to be scored, and under which policy."""

    __tablename__ = "attempts"
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    label_revision: Mapped[Words]  # the board's at that time, or the configured one before there was a board
    number: Mapped[int]  # of the owner's attempts at this label revision, from 1; also those given back
    policy: Mapped[JsonColumn]
    at: Mapped[Instant] = mapped_column(default=database_now())


class QuotaCharge(Base):
    """Charges of an attempt: to the account's quota, and that of each of its organisations."""

    __tablename__ = "charges"
    __table_args__ = (Index("ix_charges_subject", "subject"),)
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("attempts.submission_id"), primary_key=True)
    subject: Mapped[Words] = mapped_column(ForeignKey("quota_subjects.subject"), primary_key=True)
