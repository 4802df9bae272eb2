"""What is switched on for everybody, with what is said about it in public."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from storage import audit
from storage.maintenance_tables import Switch

_PAUSED = "submissions-paused"


def message(session: Session) -> str | None:
    """What is said while submissions are paused; None while they are taken."""
    return session.execute(select(Switch.message).where(Switch.name == _PAUSED)).scalar_one_or_none()


def turn_on(session: Session, text: str) -> bool:
    """False where it is on with this message already."""
    audit.stand_in_line(session)
    found = session.get(Switch, _PAUSED)
    if found is None:
        session.add(Switch(name=_PAUSED, message=text))
        session.flush()
        return True
    if found.message == text:
        return False
    found.message = text
    session.flush()
    return True


def turn_off(session: Session) -> bool:
    """False where it is off already."""
    audit.stand_in_line(session)  # as turn_on does, or the two would wait for one another
    gone = session.execute(delete(Switch).where(Switch.name == _PAUSED).returning(Switch.name)).first()
    return gone is not None
