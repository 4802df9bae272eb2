"""Public page `GET /status` and `GET /api/v1/status`."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from leaderboard.pages.status_pages import status_page
from leaderboard.render import render
from leaderboard.render_context import RenderContext
from leaderboard.responses import respond
from operation.public_status import EXAMPLE, PublicStatus


def build(context: RenderContext, status: PublicStatus) -> APIRouter:
    """Return the routes."""
    router = APIRouter()

    @router.get("/api/v1/status", responses={200: {"content": {"application/json": {"example": EXAMPLE}}}})
    def data(request: Request) -> Response:
        """Return how the service is: `operational`, `degraded`, `paused` or `offline`. Ages are in seconds."""
        return JSONResponse(status.get(), headers={"Cache-Control": "no-store"})

    @router.get("/status", include_in_schema=False)
    def page(request: Request) -> Response:
        text = render(context, "status.html", status=status.get(), age=age_text, current="/status")
        return respond(status_page(text), request.headers, cache_control="no-store")

    return router


def age_text(seconds: int | None) -> str:
    """Return an age as people say it."""
    if seconds is None:
        return "never"
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s ago"
    return f"{seconds} seconds ago"
