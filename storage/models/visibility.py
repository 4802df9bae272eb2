"""Tables of approvals and of the visibility options of submissions."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from storage.models.core import Base, EntryId, Instant, Words

_WAITING = "state = 'waiting'"
_ANONYMOUS = "anonymous_until IS NOT NULL AND revealed_at IS NULL"


def _check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


class Approval(Base):
    """A submission that needs a maintainer's approval before any label is used. No row: no approval was needed."""

    __tablename__ = "approvals"
    __table_args__ = (
        _check("state", "state IN ('waiting', 'approved', 'rejected')"),
        _check("decided", f"({_WAITING}) = (decided_at IS NULL)"),
        _check("by", f"({_WAITING}) = (decided_by IS NULL)"),
        _check("explained", f"({_WAITING}) = (reason IS NULL)"),
        _check("reason", "length(reason) BETWEEN 1 AND 500"),
        Index("ix_approvals_waiting", "submission_id", sqlite_where=text(_WAITING), postgresql_where=text(_WAITING)),
    )
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    state: Mapped[Words] = mapped_column(default="waiting")
    decided_at: Mapped[Instant | None]
    decided_by: Mapped[Words | None]  # account
    reason: Mapped[Words | None]  # told to the submitter


class Visibility(Base):
    """What the owner of a submission asked for when submitting. No row: named and on the board.

    Both end by being recorded (`revealed_at`, `published_at`), with an audit event; no clock is asked when pages are
    made. Neither comes back: boards of the past stay readable.
    """

    __tablename__ = "visibility"
    __table_args__ = (
        _check("revealed", "revealed_at IS NULL OR anonymous_until IS NOT NULL"),
        _check("published", "published_at IS NULL OR held_back_at IS NOT NULL"),
        Index(
            "ix_visibility_anonymous_until",
            "anonymous_until",
            sqlite_where=text(_ANONYMOUS),
            postgresql_where=text(_ANONYMOUS),
        ),
    )
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    anonymous_until: Mapped[Instant | None]
    revealed_at: Mapped[Instant | None]
    held_back_at: Mapped[Instant | None]  # not on the board from then until published
    published_at: Mapped[Instant | None]
