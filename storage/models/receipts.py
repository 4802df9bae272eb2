"""Tables of receipts: public keys, salted commitments, and the subjects of events."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, Sha256, Words


def _check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


def _digest(column: str) -> CheckConstraint:
    return _check(column, f"length({column}) = 64 AND {column} = lower({column})")


class ReceiptKey(Base):
    """A public key that receipts were signed with; never deleted. The private half is never here."""

    __tablename__ = "receipt_keys"
    __table_args__ = (
        _check("id", "length(id) = 16 AND id = lower(id)"),
        _check("public_key", "length(public_key) = 44"),
    )
    id: Mapped[Words] = mapped_column(primary_key=True)  # the start of the public key's SHA-256
    public_key: Mapped[Words]  # Ed25519, 32 bytes in base64
    since: Mapped[Instant] = mapped_column(default=database_now())


class LabelCommitment(Base):
    """HMAC-SHA256(salt, digest) of a configured label revision; imported ones have theirs from their import."""

    __tablename__ = "label_commitments"
    __table_args__ = (
        ForeignKeyConstraint(["benchmark", "revision"], ["label_sets.benchmark", "label_sets.revision"]),
        _digest("salt"),
        _digest("commitment"),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    revision: Mapped[Words] = mapped_column(primary_key=True)
    salt: Mapped[Sha256]  # not public while the labels are not
    commitment: Mapped[Sha256]  # public


class EventSubject(Base):
    """Subjects of audit events: an index, made with each event and never hashed."""

    __tablename__ = "event_subjects"
    __table_args__ = (_check("subject", "length(subject) BETWEEN 1 AND 200"),)
    subject: Mapped[Words] = mapped_column(
        primary_key=True
    )  # an entry's id, or as audit.labels and audit.board have it
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
