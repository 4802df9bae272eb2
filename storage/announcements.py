"""Announcements of PostgreSQL: a transaction says at its commit that there is something to look at."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

CHANNEL = "leaderboard_changes"


def announce(session: Session, what: str) -> None:
    """Announce a change to who listens (storage/change_listener.py), with the commit. Nothing on SQLite."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_notify(CHANNEL, what)))
