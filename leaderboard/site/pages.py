"""Pages about a board, made once for each view; not found, no board at that time, error, withdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import Response

from auth.problem_details import DATABASE_RETRY_SECONDS, READER, problem
from leaderboard.site import render
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.render_context import RenderContext
from leaderboard.site.responses import HTML, query_of, requested_version, respond
from vlrb.common.messages import _

_AGAIN = ((_("Try again"), ""), (_("The board"), "/"))
_TEXTS = {
    "not-found": (
        404,
        _("This page does not exist"),
        _("Check the address; entry links never change. Or search for the judge by its name."),
        (
            (_("Leaderboard"), "/"),
            (_("Compare judges"), "/compare"),
            (_("Browse the pairs"), "/explore"),
            (_("About the benchmark"), "/about"),
            (_("API"), "/docs"),
        ),
    ),
    "no-board": (
        404,
        _("No leaderboard for that date"),
        _(
            "To find an old board, give a day (as_of=2026-11-01), an instant, or at least twelve digits of a "
            "snapshot’s id."
        ),
        ((_("The current board"), "/"),),
    ),
    "busy": (
        503,
        _("Too many readers at the moment"),
        _("Pages that take long to make are in demand. Please try again in a few seconds."),
        _AGAIN,
    ),
    "offline": (
        503,
        _("Not available at the moment"),
        _("The database does not answer. Nothing that was sent before is lost; please try again in a few seconds."),
        _AGAIN,
    ),
    "failed": (
        500,
        _("That went wrong"),
        _("The fault is ours and is in our log. Nothing that you sent is lost; please try again in a moment."),
        _AGAIN,
    ),
}
"""Pages by name: HTTP status, title, lead, links."""
_PROBLEMS = {
    "not-found": ("not-found", _("There is no such resource.")),
    "failed": ("internal", _("The fault is ours. Please try again in a moment.")),
    "busy": ("busy", _("The service is busy. Please try again in a few seconds.")),
    "offline": (
        "database-offline",
        _("The database does not answer at the moment. Send the same again: nothing is done twice."),
    ),
}
"""The same errors of the API: code, detail."""
_LATER = ("busy", "offline")

PageView = Callable[[BoardVersion, Mapping[str, str]], tuple[str, Callable[[], str]]]
"""What reads a query string: the key of the page asked for, and what makes it."""


def add_page(
    router: APIRouter, cache: BoardCache, path: str, view: PageView, *, dated: bool = False, drawing: bool = False
) -> None:
    """Add a page about a board that is made once for each view. ``dated``: it shows old boards too; ``drawing``: it has
    a figure."""

    @router.api_route(path, methods=["GET", "HEAD"])
    async def page(request: Request) -> Response:
        board_version = await requested_version(cache, request) if dated else await cache.current()
        if board_version is None:
            return message_reply(cache.context, "no-board", request.headers)
        key, make = await asyncio.to_thread(view, board_version, query_of(request, board_version))
        response = await board_version.ready(key, lambda: status_page(make()))
        return respond(response, request.headers, drawing=drawing)


def message_reply(context: RenderContext, name: str, headers: Headers) -> Response:
    """Return one of _TEXTS as a person should see it, in their language also where a file was asked for."""
    body = _body(context.in_language(READER.get()), name)
    return respond(body, headers, status=_TEXTS[name][0], cache_control="no-store")


async def error_reply(context: RenderContext, name: str, request: Request, error: Exception) -> Response:
    """Answer one of _PROBLEMS, as a handler of exceptions: problem+json below /api/, a page elsewhere."""
    later = {"retry_after": DATABASE_RETRY_SECONDS} if name in _LATER else {}
    if request.url.path.startswith("/api/"):
        code, detail = _PROBLEMS[name]
        return problem(_TEXTS[name][0], code, detail=detail, **later)
    reply = message_reply(context, name, request.headers)
    if later:
        reply.headers["Retry-After"] = str(DATABASE_RETRY_SECONDS)
    return reply


def not_found_page(context: RenderContext, headers: Headers) -> Response:
    """404 as a person should see it."""
    return message_reply(context, "not-found", headers)


def status_page(page: str) -> CachedResponse:
    """Return a page that is probably asked for a single time."""
    return CachedResponse.of(page.encode(), HTML, quick=True)


@lru_cache(maxsize=128)
def _body(context: RenderContext, name: str) -> CachedResponse:
    _status, title, lead, links = _TEXTS[name]
    return status_page(render.message_page(context, title, lead=lead, links=links, search=name == "not-found"))
