"""Tables of charges, which quotas are counted from."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from storage.models.core import Base, EntryId, Words


class QuotaSubject(Base):
    """The subject of a quota: "account:<id>" or "organisation:<id at the issuer>". Its lock puts attempts in a line."""

    __tablename__ = "quota_subjects"
    subject: Mapped[Words] = mapped_column(primary_key=True)


class QuotaCharge(Base):
    """Charges of a submission: to the account's quota, and that of each of its organisations."""

    __tablename__ = "charges"
    __table_args__ = (Index("ix_charges_subject", "subject"),)
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    subject: Mapped[Words] = mapped_column(ForeignKey("quota_subjects.subject"), primary_key=True)
