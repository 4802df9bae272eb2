"""Status that everybody may know: queue, last scores, replica, and what visitors notice."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from common.kept_answer import KeptAnswer
from operation import figures
from operation.alarms import Alarms, service_alarms
from operation.replication.litestream import Litestream
from operation.start import RESTORED
from storage.database import Database
from storage.labels.pending_rules import changed_rules, pending_rules
from storage.limits import submission_pause

FRESH_SECONDS = 5.0  # for which an answer is given again: counting is not for every visitor
EXAMPLE = {
    "status": "operational",
    "queue": 0,
    "scoring": 0,
    "last_scored_seconds": 41,
    "board_seconds": 40,
    "workers": 1,
    "replica_lag_seconds": 3,
    "restored_seconds": None,
    "paused": None,
    "effects": [],
    "benchmarks": [
        {"id": "vl-rewardbench", "title": "VL-RewardBench", "queue": 0, "board_seconds": 40, "decision": None}
    ],
}


class PublicStatus:
    """What everybody may know, made at most every few seconds."""

    def __init__(
        self,
        database: Database,
        litestream: Litestream | None = None,
        *,
        benchmarks: Mapping[str, str] = MappingProxyType({}),
        alarms: Alarms = service_alarms,
    ) -> None:
        """`benchmarks`: id -> title of those that are served. `alarms`: those of operators; the public learns their
        effects."""
        self.database, self.litestream, self.benchmarks, self.alarms = database, litestream, benchmarks, alarms
        self._kept = KeptAnswer(self._make, FRESH_SECONDS)

    def get(self) -> dict[str, Any]:
        """Return the status; `offline` where the database does not answer."""
        return self._kept.get()

    def _make(self) -> dict[str, Any]:
        try:
            with self.database.read() as session:
                result = figures.gather(session)
                paused = submission_pause.pause_message(session)
                effects = sorted({alarm.effect for alarm in self.alarms(session) if alarm.effect})
                restored = figures.last_event_age(session, RESTORED)
                boards = [_board(session, benchmark, title=title) for benchmark, title in self.benchmarks.items()]
        except SQLAlchemyError:
            return {
                **EXAMPLE,
                **dict.fromkeys(EXAMPLE),
                "status": "offline",
                "effects": [],
                "benchmarks": [],
            }
        return {
            "status": "paused" if paused is not None else "degraded" if effects else "operational",
            "queue": result.jobs["queued"],
            "scoring": result.jobs["running"],
            "last_scored_seconds": _whole(result.last_scored_age),
            "board_seconds": _whole(result.snapshot_age),
            "workers": result.workers,
            "replica_lag_seconds": _whole(self.litestream.lag()) if self.litestream else None,
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
