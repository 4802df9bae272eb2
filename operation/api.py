"""Route of /metrics: for this machine, or for who has the token."""

from __future__ import annotations

import secrets

from fastapi import APIRouter, Request
from prometheus_client import CollectorRegistry, generate_latest
from starlette.responses import Response

from auth.csrf import is_loopback
from auth.middleware import bearer
from auth.problem_details import problem

_TYPE = "text/plain; version=1.0.0; charset=utf-8"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_EXAMPLE = "# TYPE leaderboard_submissions gauge\nleaderboard_submissions 12.0\n"


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
