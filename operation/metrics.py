"""Prometheus' metrics of the web process: requests as they come, everything else when somebody asks."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fastapi import APIRouter, Request
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.csrf import is_loopback
from auth.middleware import bearer
from auth.problem_details import problem
from operation import figures
from operation.alarms import Alarms, ServiceAlarm
from operation.build import BUILD, own_commit
from operation.figures import BoardFigures, ServiceFigures
from operation.litestream import Litestream
from storage.database import Database

QUANTILES = (0.5, 0.95, 1.0)
_LEFT = 499  # no answer began: the client left before, which nginx counts so
OTHER = "other"  # what no route answers: strangers must not choose labels
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TYPE = "text/plain; version=1.0.0; charset=utf-8"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_EXAMPLE = "# TYPE leaderboard_submissions gauge\nleaderboard_submissions 12.0\n"


@dataclass(frozen=True, slots=True)
class InstallationCollector(Collector):
    """ServiceFigures of the installation, read from the database at each scrape."""

    database: Database
    state: Path
    alarms: Alarms
    litestream: Litestream | None = None

    def describe(self) -> Sequence[Metric]:
        """Return nothing: registering must not read the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every figure that can be measured now."""
        build = {"version": BUILD, "commit": own_commit()}
        yield InfoMetricFamily("leaderboard_build", "Version of this build, and its commit.", build)
        free = shutil.disk_usage(self.state).free
        yield GaugeMetricFamily("leaderboard_disk_free_bytes", "Room where the data directory is.", value=free)
        if self.litestream is not None and (lag := self.litestream.lag()) is not None:
            yield GaugeMetricFamily("leaderboard_replica_lag_seconds", "Since the replica had everything.", value=lag)
        try:
            with self.database.read() as session:
                result, boards = figures.gather(session), figures.of_boards(session)
                alarms = self.alarms(session)
        except SQLAlchemyError:
            yield GaugeMetricFamily("leaderboard_database_up", "Whether the database answers.", value=0)
            return
        yield GaugeMetricFamily("leaderboard_database_up", "Whether the database answers.", value=1)
        yield from _of_database(result)
        yield from _of_boards(boards)
        yield from _of_alarms(alarms)


def make_registry(collector: Collector) -> CollectorRegistry:
    """Return a registry with the figures of process and installation."""
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    registry.register(collector)
    return registry


def _of_database(result: ServiceFigures) -> Iterator[Metric]:
    yield GaugeMetricFamily("leaderboard_submissions", "Submissions that were accepted.", value=result.submissions)
    yield _labelled("leaderboard_jobs", "Scoring jobs by state.", label="state", values=result.jobs)
    if values := result.waiting_seconds:
        shares = {str(share): float(np.quantile(values, share, method="inverted_cdf")) for share in QUANTILES}
        words = "From submission to score, of the last hour's jobs."
        yield _labelled("leaderboard_waiting_seconds", words, label="quantile", values=shares)
    yield GaugeMetricFamily("leaderboard_workers", "Workers that were seen in the last minute.", value=result.workers)


def _of_alarms(alarms: Sequence[ServiceAlarm]) -> Iterator[Metric]:
    words = "Alarms that hold, as health lists them; `effect` is what visitors notice."
    family = GaugeMetricFamily("leaderboard_alarm", words, labels=["code", "effect"])
    for alarm in alarms:
        family.add_metric([alarm.code, alarm.effect], 1)
    yield family


def _of_boards(boards: Mapping[str, BoardFigures]) -> Iterator[Metric]:
    scored = {name: board.last_score_age for name, board in boards.items() if board.last_score_age is not None}
    snapshot_ages = {name: board.snapshot_age for name, board in boards.items() if board.snapshot_age is not None}
    yield _labelled(
        "leaderboard_last_score_age_seconds", "Since a submission was scored.", label="benchmark", values=scored
    )
    yield _labelled(
        "leaderboard_snapshot_age_seconds", "Of the board that is shown.", label="benchmark", values=snapshot_ages
    )


def _labelled(name: str, text: str, *, label: str, values: dict[str, int] | dict[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], value)
    return family


class RequestMetricsMiddleware:
    """ASGI: an application whose requests are counted: time by route template, responses by status.

    `GET /` without a query is answered ahead of this from memory, and is not counted: counting would cost more than
    answering. Gradio's requests count under /app.
    """

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app, labels = app, ("route", "method")
        self._seconds = Histogram(
            "leaderboard_request_seconds", "Time to the end of a response.", labels, buckets=_BUCKETS, registry=registry
        )
        self._responses = Counter(
            "leaderboard_responses", "Responses by status.", (*labels, "status"), registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), _LEFT

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            status = 500
            raise
        finally:
            self.record(scope, status, seconds=time.perf_counter() - started)

    def record(self, scope: Scope, status: int, *, seconds: float) -> None:
        """Count one request."""
        route, method = route_of(scope), scope["method"] if scope["method"] in _METHODS else OTHER
        self._seconds.labels(route, method).observe(seconds)
        self._responses.labels(route, method, str(status)).inc()


def route_of(scope: Scope) -> str:
    """Return the template of the route that answered, such as /entries/{entry_id}."""
    path = scope.get("path", "")
    if path == "/app" or path.startswith("/app/"):
        return "/app"
    return str(getattr(scope.get("route"), "path", "") or OTHER)


def build(registry: CollectorRegistry, token: str) -> APIRouter:
    """Return the route. `token`: "" admits requests from this machine alone."""
    router = APIRouter()

    @router.get(
        "/metrics",
        responses={200: {"description": "Prometheus' text format.", "content": {"text/plain": {"example": _EXAMPLE}}}},
    )
    def metrics(request: Request) -> Response:
        """Return the figures for Prometheus. From this machine; from elsewhere with `Authorization: Bearer` and the
        token of METRICS_TOKEN."""
        if not may_read(request, token):
            detail = "Metrics are for the operator. Set METRICS_TOKEN, and send it as Authorization: Bearer."
            return problem(403, "metrics-closed", detail=detail)
        return Response(generate_latest(registry), media_type=_TYPE, headers={"Cache-Control": "no-store"})

    return router


def may_read(request: Request, token: str) -> bool:
    """Return whether a request has the token; without one, whether it comes from this machine and through no proxy."""
    if token:
        return secrets.compare_digest((bearer(request.scope) or "").encode(), token.encode())
    proxied = any(name in request.headers for name in _FORWARDED)
    return not proxied and request.client is not None and is_loopback(request.client.host)
