"""Tables of notifications by e-mail, with encrypted addresses; all go with their account."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, Integer, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, State, Words


def _check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


class EmailSubscription(Base):
    """The address to which an account wants news of its own entries; unused until its owner has confirmed it."""

    __tablename__ = "email_subscriptions"
    __table_args__ = (
        _check("id", "length(id) BETWEEN 20 AND 64"),
        _check("language", "length(language) BETWEEN 2 AND 35"),
        _check("seen_seq", "seen_seq >= 0"),
    )
    account: Mapped[Words] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[Words] = mapped_column(unique=True)  # random; another one for each address
    address: Mapped[bytes] = mapped_column(LargeBinary)  # encrypted under SESSION_SECRET
    language: Mapped[Words]
    events: Mapped[list[str]] = mapped_column(JSON)
    seen_seq: Mapped[int] = mapped_column(default=0)  # the last audit event that was looked at
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    confirmed_at: Mapped[Instant | None]


class OutgoingEmail(Base):
    """An e-mail to be sent, without its address. Changed by storage/notifications.py alone."""

    __tablename__ = "outgoing_emails"
    __table_args__ = (
        UniqueConstraint("subscription", "through_seq"),
        _check("address_key", "length(address_key) = 64"),
        _check("state", "state IN ('queued', 'running', 'done', 'failed')"),
        _check("counters", "attempts >= 0 AND epoch >= attempts"),
        _check("lease", "(state = 'running') = (lease_until IS NOT NULL)"),
        _check("finished", "(state IN ('done', 'failed')) = (finished_at IS NOT NULL)"),
        Index("ix_outgoing_emails_state_due_at", "state", "due_at"),
        Index("ix_outgoing_emails_account", "account"),
        Index("ix_outgoing_emails_address_key", "address_key"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    account: Mapped[Words] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    subscription: Mapped[Words]  # id of an EmailSubscription that may be gone
    address_key: Mapped[Words]  # keyed digest of the address, to count requests for it
    through_seq: Mapped[int]  # the last audit event that it tells of; 0: it asks for confirmation
    lines: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    state: Mapped[Words] = mapped_column(default=State.QUEUED.value)
    reason: Mapped[Words] = mapped_column(default="")  # why it failed; never an address
    epoch: Mapped[int] = mapped_column(default=0)  # grows with every claim: the fence
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[Words | None]
    lease_until: Mapped[Instant | None]
    due_at: Mapped[Instant] = mapped_column(default=database_now())
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    started_at: Mapped[Instant | None]
    finished_at: Mapped[Instant | None]
