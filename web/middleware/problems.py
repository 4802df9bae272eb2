"""Problems (problem+json) as pages, where a browser asked for one. Plain ASGI.

Routes answer most errors with pages themselves; this is for what is refused around them (rates, sizes, methods, other
sites) and for whatever else ends in a problem. `code` stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.problem_details import MEDIA_TYPE
from leaderboard.site.pages import status_page
from leaderboard.site.render import message_page
from leaderboard.site.render_context import RenderContext
from leaderboard.site.responses import respond
from vlrb.common.messages import _
from web.middleware.replaced_responses import ResponseHeaders, replacing

_FOR_PROGRAMS = re.compile(r"(?:/b/[^/]+)?/api/|/app/gradio_api/")
_TITLES = {
    HTTPStatus.TOO_MANY_REQUESTS: _("Too many requests at the moment"),
    HTTPStatus.SERVICE_UNAVAILABLE: _("Not available at the moment"),
}
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.INTERNAL_SERVER_ERROR, *_TITLES})
"""What may be over when somebody asks again."""
_NOT_FOR_READING = _("This address only takes what a form or a program sends.")
_OF_THE_BODY = frozenset({b"content-type", b"content-length", b"cache-control", b"x-content-type-options"})


class ProblemsMiddleware:
    """The application, whose problems are pages for browsers. `contexts`: of its benchmarks, the first one first."""

    def __init__(self, app: ASGIApp, contexts: Sequence[RenderContext]) -> None:
        self._app, self._contexts = app, contexts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "http" and asks_for_page(scope):
            as_page = partial(_as_page, Headers(scope=scope), self._context_of(scope))
            send = replacing(send, as_page, kind=MEDIA_TYPE)
        await self._app(scope, receive, send)

    def _context_of(self, scope: Scope) -> RenderContext:
        first, *others = self._contexts
        return next((other for other in others if scope["path"].startswith(f"{other.prefix}/")), first)


def asks_for_page(scope: Scope) -> bool:
    """Return whether a browser would show the answer to a person."""
    if scope["method"] == "HEAD" or _FOR_PROGRAMS.match(scope["path"]):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _as_page(asked: Headers, context: RenderContext, start: Message, body: bytes) -> tuple[ResponseHeaders, bytes]:
    page = status_page(problem_page(json.loads(body), context))
    answer = respond(page, asked, status=start["status"], cache_control="no-store")
    kept = [(name, value) for name, value in start["headers"] if name.lower() not in _OF_THE_BODY]
    return [*answer.raw_headers, *kept], bytes(answer.body)


def problem_page(problem: Mapping[str, Any], context: RenderContext) -> str:
    """Return the page that says what a problem says."""
    status = int(problem["status"])
    title = _TITLES.get(HTTPStatus(status))
    if title is None:
        title = _("That went wrong") if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _("That is not possible")
    read = status == HTTPStatus.METHOD_NOT_ALLOWED
    lead = _NOT_FOR_READING if read else problem.get("detail", "")
    again = ((_("Try again"), ""),) if status in _PASSING else ()
    return message_page(context, title, lead=lead, links=(*again, (_("The board"), "/")))
