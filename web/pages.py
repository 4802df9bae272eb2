"""Status that everybody may know: queue, last scores, replica, and what visitors notice. `GET /status` and
`GET /api/v1/status`; and for whatever watches the service, `/healthz` and `/readyz`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from auth.problem_details import DATABASE_RETRY_SECONDS, problem
from common.openapi import answers
from leaderboard.site.pages import status_page
from leaderboard.site.render import render
from leaderboard.site.responses import respond
from operation import figures
from operation.alarms import NO_FILES, Alarms, ServiceAlarm
from operation.litestream import Litestream
from operation.restore import RESTORED
from storage.database import UNAVAILABLE, Database, Session
from storage.jobs import worker_heartbeats
from storage.labels.pending_rules import changed_rules, pending_rules
from storage.limits import submission_pause
from vlrb.common.messages import _
from web.services import Services

_FRESH_SECONDS = 5.0  # for which an answer is given again: counting is not for every visitor
_READY_SECONDS = 1.0  # for which that of /readyz is: many ask, every second
_UNKNOWN = (
    "queue", "scoring", "last_scored_seconds", "board_seconds", "workers", "replica_lag_seconds", "restored_seconds",
    "paused",
)  # fmt: skip
"""What nobody can tell while the database does not answer."""
_Answer = TypeVar("_Answer")


def build(services: Services) -> APIRouter:
    """Return the routes."""
    titles = {benchmark.id: benchmark.served.spec.title for benchmark in services.benchmarks}
    status = partial(public_status, services.database, services.litestream, benchmarks=titles, alarms=services.alarms)
    router, kept = APIRouter(), KeptAnswer(status, _FRESH_SECONDS)

    @router.get("/api/v1/status", responses=answers("status"))
    def data() -> Response:
        """Return how the service is: `operational`, `degraded`, `paused` or `offline`. Ages are in seconds.

        `effects`: what visitors notice: `no-files`, `scores-late`, `figures-differ`, `decision-pending` (new files wait
        for a maintainer; `decision` of the benchmark has the command).
        """
        return JSONResponse(kept.get(), headers={"Cache-Control": "no-store"})

    @router.get("/status", include_in_schema=False)
    def page(request: Request) -> Response:
        text = render(services.first.context, "status.html", status=kept.get(), age=age_text, current="/status")
        return respond(status_page(text), request.headers, cache_control="no-store")

    _add_health(router, services)
    return router


def _add_health(router: APIRouter, services: Services) -> None:
    kept = KeptAnswer(partial(_readiness, services.database, services.alarms), _READY_SECONDS)

    @router.get("/healthz", responses=answers("health"))
    async def healthz() -> Response:
        """Report that this process answers."""
        return JSONResponse({"status": "ok"})

    @router.get("/readyz", responses=answers("ready"))
    def readyz() -> Response:
        """Report whether the database answers and no alarm says that nothing is taken or scored.

        `paused`: why no submissions are taken. `alarms`: what an operator should look at meanwhile.
        """
        try:
            alarms, facts = kept.get()
        except UNAVAILABLE:
            detail = _("The database does not answer.")
            return problem(503, "database-offline", detail=detail, retry_after=DATABASE_RETRY_SECONDS)
        # First that no file is taken: where no disk has room, a worker may be unable to show itself.
        blocking = [alarm for alarm in alarms if alarm.blocking]
        if blocking:
            alarm = min(blocking, key=lambda alarm: alarm.effect != NO_FILES)
            return problem(503, alarm.code, detail=alarm.public or alarm.sentence)
        named = [{"code": alarm.code, "detail": alarm.public or alarm.sentence} for alarm in alarms]
        return JSONResponse({"status": "ready", **facts, "alarms": named})


def _readiness(database: Database, alarms: Alarms) -> tuple[Sequence[ServiceAlarm], dict[str, Any]]:
    """Return what is wrong; seconds since a worker's heartbeat, and the message while no submissions are taken."""
    with database.read() as session:
        seen, paused = worker_heartbeats.last_seen(session), submission_pause.pause_message(session)
        age = None if seen is None else round(seen.seconds_ago, 1)
        return alarms(session), {"worker_age_seconds": age, "paused": paused}


def age_text(seconds: int | None) -> str:
    """Return an age as people say it."""
    if seconds is None:
        return _("never")
    if seconds >= 2 * 86_400:
        return _("{n} days ago", n=seconds // 86_400)
    if seconds >= 2 * 3600:
        return _("{n} hours ago", n=seconds // 3600)
    if seconds >= 2 * 60:
        return _("{n} minutes ago", n=seconds // 60)
    return _("{n} seconds ago", n=seconds)


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
    except UNAVAILABLE:
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


class KeptAnswer(Generic[_Answer]):
    """An answer that is made anew when it is older than `seconds`. Safe for threads, which wait for one of them."""

    def __init__(
        self, make: Callable[[], _Answer], seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make, self._seconds, self._clock = make, seconds, clock
        self._lock = threading.Lock()
        self._made: tuple[float, _Answer] | None = None

    def get(self) -> _Answer:
        """Return the answer. Raises what making it raises, and keeps nothing then."""
        with self._lock:
            if self._made is None or self._clock() - self._made[0] > self._seconds:
                self._made = (self._clock(), self._make())
            return self._made[1]
