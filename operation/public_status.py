"""Status that everybody may know: queue, last scores, replica, and what visitors notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from operation import figures
from operation.alarms import Alarms
from operation.replication.litestream import Litestream
from operation.start import RESTORED
from storage.database import Database
from storage.labels.pending_rules import changed_rules, pending_rules
from storage.limits import submission_pause

_UNKNOWN = (
    "queue", "scoring", "last_scored_seconds", "board_seconds", "workers", "replica_lag_seconds", "restored_seconds",
    "paused",
)  # fmt: skip
"""What nobody can tell while the database does not answer."""


def public_status(
    database: Database, litestream: Litestream | None = None, *, benchmarks: Mapping[str, str], alarms: Alarms
) -> dict[str, Any]:
    """Return the status; `offline` where the database does not answer. Ages are in seconds.

    `benchmarks`: id -> title of those that are served. `alarms`: those of operators; the public learns their effects.
    """
    try:
        with database.read() as session:
            result = figures.gather(session)
            paused = submission_pause.pause_message(session)
            effects = sorted({alarm.effect for alarm in alarms(session) if alarm.effect})
            restored = figures.last_event_age(session, RESTORED)
            boards = [_board(session, benchmark, title=title) for benchmark, title in benchmarks.items()]
    except SQLAlchemyError:
        return {"status": "offline", **dict.fromkeys(_UNKNOWN), "effects": [], "benchmarks": []}
    return {
        "status": "paused" if paused is not None else "degraded" if effects else "operational",
        "queue": result.jobs["queued"],
        "scoring": result.jobs["running"],
        "last_scored_seconds": _whole(result.last_scored_age),
        "board_seconds": _whole(result.snapshot_age),
        "workers": result.workers,
        "replica_lag_seconds": _whole(litestream.lag()) if litestream else None,
        "restored_seconds": _whole(restored),
        "paused": paused,
        "effects": effects,
        "benchmarks": boards,
    }


def _board(session: Session, benchmark: str, *, title: str) -> dict[str, Any]:
    board_figures, pending = figures.of_benchmark(session, benchmark), pending_rules(session, benchmark)
    return {
        "id": benchmark,
        "title": title,
        "queue": board_figures.queued,
        "board_seconds": _whole(board_figures.snapshot_age),
        "decision": changed_rules(session, benchmark) if pending is None else pending,
    }


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)
