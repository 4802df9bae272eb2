"""Request metrics: time by route template, responses by status.

`GET /` without a query is answered ahead of this from memory, and is not counted: counting would cost more than
answering. Gradio's requests count under /app.
"""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LEFT = 499  # no answer began: the client left before, which nginx counts so
OTHER = "other"  # what no route answers: strangers must not choose labels
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestMetricsMiddleware:
    """ASGI: an application whose requests are counted."""

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
