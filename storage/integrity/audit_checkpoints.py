"""Daily checkpoints of the audit chain, stored outside the database, so that truncation or a complete rewrite is
detectable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.clock import database_now, iso
from storage.integrity import audit
from storage.integrity.audit import Head
from storage.models.core import AuditEvent
from vlrb.common import atomic_files


def latest(session: Session) -> dict[str, Any]:
    """Return the last link, and when this was."""
    return _facts(audit.head(session), at=_now(session))


def today(session: Session) -> str:
    """Return the database's day, UTC: YYYY-MM-DD."""
    return iso(_now(session))[:10]


def for_day(session: Session, day: str) -> dict[str, Any] | None:
    """Return the chain's state when a day began (UTC); on its first day its first event; None before there is one.

    The same for everybody who asks, whenever they ask on that day or later. Needs a write session: it waits for the
    event that somebody is appending, whose time may be of the day before.
    """
    audit.acquire_chain_lock(session)
    began = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    # The event before the first one of the day, not the last one with an earlier time: a clock may have been put back.
    first = session.execute(select(func.min(AuditEvent.seq)).where(AuditEvent.at >= began)).scalar_one()
    seq = audit.head(session).seq if first is None else max(first - 1, 1)
    event = session.execute(select(AuditEvent.seq, AuditEvent.hash, AuditEvent.at).where(AuditEvent.seq == seq)).first()
    return None if event is None else _facts(Head(event.seq, event.hash), at=max(began, event.at))


def render(head: Mapping[str, Any]) -> bytes:
    """Return a head as a file."""
    return (json.dumps(head, sort_keys=True) + "\n").encode("ascii")


def write(path: Path, head: Mapping[str, Any]) -> None:
    """Durable, whole or not at all, readable by everybody."""
    atomic_files.write(path, render(head), mode=atomic_files.PUBLIC)


def _facts(head: Head, *, at: float) -> dict[str, Any]:
    return {"seq": head.seq, "hash": head.hash, "at": iso(at)}


def _now(session: Session) -> float:
    return session.execute(select(database_now())).scalar_one()
