"""Public page `GET /status` and `GET /api/v1/status`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from common.kept_answer import KeptAnswer
from common.openapi import answers
from leaderboard.pages.status_pages import status_page
from leaderboard.render import render
from leaderboard.render_context import RenderContext
from leaderboard.responses import respond
from vlrb.common.messages import _

_FRESH_SECONDS = 5.0  # for which an answer is given again: counting is not for every visitor


def build(context: RenderContext, status: Callable[[], dict[str, Any]]) -> APIRouter:
    """Return the routes."""
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
        text = render(context, "status.html", status=kept.get(), age=age_text, current="/status")
        return respond(status_page(text), request.headers, cache_control="no-store")

    return router


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
