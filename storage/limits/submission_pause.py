"""Pausing of submissions, with a public message."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from storage.database import change_rows
from storage.integrity import audit
from storage.models.moderation import ServiceFlag

_PAUSED = "submissions-paused"


def pause_message(session: Session) -> str | None:
    """Return the message while submissions are paused, else None."""
    return session.execute(select(ServiceFlag.message).where(ServiceFlag.name == _PAUSED)).scalar_one_or_none()


def pause(session: Session, text: str) -> bool:
    """Pause submissions; return False if they are paused with this message already."""
    audit.acquire_chain_lock(session)
    if pause_message(session) == text:
        return False
    session.merge(ServiceFlag(name=_PAUSED, message=text))
    session.flush()
    return True


def resume(session: Session) -> bool:
    """End the pause; return False if there is none."""
    audit.acquire_chain_lock(session)  # as pause does, or the two would wait for one another
    return change_rows(session, delete(ServiceFlag).where(ServiceFlag.name == _PAUSED))
