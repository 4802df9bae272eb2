"""Audit events that require a new snapshot."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models.core import AuditEvent

# Events that do not change public data. Every other kind, including new ones, triggers a snapshot.
NON_PUBLIC_EVENTS = (
    "snapshot.published",
    "submission.accepted",
    "job.failed",
    "integrity.checked",
    "integrity.failed",
    "service.restored",
    "task.requested",
    "task.failed",
    "dispute.opened",
    "dispute.accepted",
    "dispute.rejected",
    "verification.created",
    "verification.annotators",
    "verification.answered",
    "verification.closed",
    "verification.exported",
    "verification.left-out",
    "labels.draft-disclosed",
)


RELATIONS = "relations.computed"  # changes what judges are to each other, and nothing else


def needs_snapshot(session: Session, seq: int) -> bool:
    """Return whether an event with an effect came after this one. Events are in the order of their commits."""
    later = select(AuditEvent.seq).where(AuditEvent.seq > seq, AuditEvent.kind.not_in(NON_PUBLIC_EVENTS)).limit(1)
    return session.execute(later).first() is not None
