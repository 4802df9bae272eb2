"""Tables of anomaly cases. Private: numbers beside limits, never an accusation.

Nothing here is per item, and nothing is public: no page, export, feed or log of decisions reads these tables.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, EntryId, Instant, JsonColumn, Words

KINDS = (
    "above-best-known",
    "near-equal-categories",
    "identical-texts",
    "empty-texts",
    "near-duplicate",
    "public-labels",
)
DISMISSED, ACTED = "dismissed", "acted-on"


def _check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


class AnomalyCase(Base):
    """One pattern in one entry. `subject`: the label revision or the other entry that it is about; "" for neither."""

    __tablename__ = "suspicions"
    __table_args__ = (
        UniqueConstraint("submission_id", "kind", "subject"),  # looked at twice is found once
        _check("kind", "kind IN ('" + "', '".join(KINDS) + "')"),
        _check("subject", "length(subject) <= 64"),
        _check("decision", f"decision IN ('{DISMISSED}', '{ACTED}')"),
        _check("decided", "(decision IS NULL) = (decided_at IS NULL)"),
        _check("explained", "(decision IS NULL) = (reason IS NULL) AND (decision IS NULL) = (decided_by IS NULL)"),
        _check("reason", "length(reason) BETWEEN 1 AND 500"),
        Index(
            "ix_suspicions_open",
            "id",
            sqlite_where=text("decision IS NULL"),
            postgresql_where=text("decision IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"))
    kind: Mapped[Words]
    subject: Mapped[Words] = mapped_column(default="")
    evidence: Mapped[JsonColumn]
    found_at: Mapped[Instant] = mapped_column(default=database_now())
    decision: Mapped[Words | None]
    reason: Mapped[Words | None]
    decided_by: Mapped[Words | None]  # account
    decided_at: Mapped[Instant | None]


class AnomalyScanCursor(Base):
    """The last audit event whose entries were looked at, of each benchmark."""

    __tablename__ = "watch"
    __table_args__ = (_check("through_seq", "through_seq >= 0"),)
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    through_seq: Mapped[int]
