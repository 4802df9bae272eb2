"""Addresses for notifications by e-mail, encrypted; they go with their account."""

from __future__ import annotations

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, Instant, Words


class EmailSubscription(Base):
    """The address to which an account wants news of its own entries; unused until its owner has confirmed it."""

    __tablename__ = "email_subscriptions"
    account: Mapped[Words] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[Words] = mapped_column(unique=True)  # random; another one for each address
    address: Mapped[bytes] = mapped_column(LargeBinary)  # encrypted under SESSION_SECRET
    language: Mapped[Words]
    seen_seq: Mapped[int] = mapped_column(default=0)  # the last audit event that was looked at
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    confirmed_at: Mapped[Instant | None]
