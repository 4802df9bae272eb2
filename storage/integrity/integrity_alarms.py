"""Findings of integrity checks as audit events: the daily check of a worker, and what was refused."""

from __future__ import annotations

import itertools
import logging
from typing import Any, NamedTuple, NoReturn

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from common.refused import Refused
from storage.clock import read_clock
from storage.database import Database
from storage.integrity import audit
from storage.integrity import integrity_check as integrity
from storage.integrity.integrity_check import Mismatch
from vlrb.common.messages import _

CHECKED, FAILED = "integrity.checked", "integrity.failed"
_DAY = 86_400.0
_NAMED = 20  # mismatches that an event names
_CHANGED = _(
    "Stored rows differ from the audit chain, so nothing is computed from them or signed. Maintainers are "
    "alerted; please tell them too."
)

log = logging.getLogger(__name__)


class RecordChanged(Refused):
    """Stored rows differ from the audit chain; the message is for whoever asked for what follows from them."""

    status, code = 500, "record-changed"

    def __init__(self) -> None:
        super().__init__(_CHANGED)


class IntegrityAlarm(NamedTuple):
    """Finding of a check that no later check has cleared."""

    at: float
    sentences: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Return the alarm in words, with the first row as the example."""
        first, *others = self.sentences
        more = f"{first} and {len(others)} more" if others else first
        return (
            f"Stored rows do not agree with the audit chain: {more} Run: python -m maintenance audit verify. "
            "The alarm ends with the next daily check that finds nothing"
        )


def check_daily(database: Database) -> list[str] | None:
    """Do what `audit verify` does where nobody has in the last 24 hours; what was found, None where it was not due."""
    with database.read() as session:
        now = read_clock(session)
        last = audit.newest(session, [CHECKED], limit=1)
        if last and last[0].at > now - _DAY:
            return None
        result = integrity.verify(session).problems
    with database.write() as session:
        audit.append(session, CHECKED, data={"problems": len(result), "named": result[:_NAMED]})
    return result


def refuse(database: Database, mismatch: Mismatch, *, subject: str) -> NoReturn:
    """Alarm about rows of `subject`, and raise RecordChanged. Called outside any transaction."""
    log.error("record.changed", extra={"data": {"subject": subject, "reason": mismatch.sentence}})
    _record(database, mismatch, subject=subject)
    raise RecordChanged


def _record(database: Database, mismatch: Mismatch, *, subject: str) -> None:
    """Keep what was found, once until the next daily check. Raises nothing of the database."""
    try:
        with database.write() as session:
            found = alarm(session)
            if found is None or mismatch.sentence not in found.sentences:
                about: dict[str, Any] = {"about": subject, "named": [mismatch.sentence]}
                audit.append(session, FAILED, data=about)
    except (SQLAlchemyError, audit.HeadMissing):
        return  # the refusal is said and logged all the same


def alarm(session: Session) -> IntegrityAlarm | None:
    """Return what was found by the last daily check and since then; None where everything held."""
    recent = audit.newest(session, [CHECKED, FAILED], limit=100)
    since = list(itertools.takewhile(lambda event: event.kind == FAILED, recent))
    last = recent[len(since) : len(since) + 1]
    named = [text for event in (*last, *reversed(since)) for text in event.body["named"]]
    return IntegrityAlarm(recent[0].at, tuple(dict.fromkeys(named))) if named else None


def checked_at(session: Session) -> float | None:
    """Return when a worker last checked all rows, in seconds since 1970 UTC; None: never."""
    last = audit.newest(session, [CHECKED], limit=1)
    return last[0].at if last else None
