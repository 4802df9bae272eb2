"""Whether anything has happened that the public should see."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.tables import Event

# Events after which the board is as before. Any other event, also one yet to be invented, makes a new snapshot.
WITHOUT_EFFECT = (
    "snapshot.published",
    "submission.accepted",
    "job.failed",
    "receipts.key_published",
    "suspicions.raised",
    "suspicions.reset",
    "suspicion.decided",
    "backup.made",
    "integrity.checked",
    "integrity.failed",
    "quota.granted",
    "quota.revoked",
    "rescore.staged",
    "identity.refused",
    "task.requested",
    "task.failed",
    "dispute.opened",
    "dispute.accepted",
    "dispute.rejected",
    "verification.created",
    "verification.annotators",
    "verification.answered",
    "verification.models-seen",
    "verification.closed",
    "labels.candidates-proposed",
    "labels.draft-disclosed",
    "labels.discarded",
)


def changed_since(session: Session, seq: int) -> bool:
    """Whether an event with an effect came after this one. Events are in the order of their commits."""
    later = select(Event.seq).where(Event.seq > seq, Event.kind.not_in(WITHOUT_EFFECT)).limit(1)
    return session.execute(later).first() is not None
