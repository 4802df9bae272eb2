"""Tables of approvals and of the visibility options of submissions."""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from storage.models.core import Base, EntryId, Instant, Words, check, partial_index

_WAITING = "state = 'waiting'"
_ANONYMOUS = "anonymous_until IS NOT NULL AND revealed_at IS NULL"


class Approval(Base):
    """A submission that needs a maintainer's approval before any label is used. No row: no approval was needed."""

    __tablename__ = "approvals"
    __table_args__ = (
        check("state", "state IN ('waiting', 'approved', 'rejected')"),
        check("decided", f"({_WAITING}) = (decided_at IS NULL)"),
        check("by", f"({_WAITING}) = (decided_by IS NULL)"),
        check("explained", f"({_WAITING}) = (reason IS NULL)"),
        partial_index("ix_approvals_waiting", "submission_id", where=_WAITING),
    )
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    state: Mapped[Words] = mapped_column(default="waiting")
    decided_at: Mapped[Instant | None]
    decided_by: Mapped[Words | None]  # account
    reason: Mapped[Words | None]  # told to the submitter


class Visibility(Base):
    """Visibility options of a submission. No row: named and on the board.

    Both end by being recorded (`revealed_at`, `published_at`), with an audit event; no clock is asked when pages are
    made. Neither comes back: boards of the past stay readable.
    """

    __tablename__ = "visibility"
    __table_args__ = (
        check("revealed", "revealed_at IS NULL OR anonymous_until IS NOT NULL"),
        check("published", "published_at IS NULL OR held_back_at IS NOT NULL"),
        partial_index("ix_visibility_anonymous_until", "anonymous_until", where=_ANONYMOUS),
    )
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    anonymous_until: Mapped[Instant | None]
    revealed_at: Mapped[Instant | None]
    held_back_at: Mapped[Instant | None]  # not on the board from then until published
    published_at: Mapped[Instant | None]
