"""Routes of the public pages: cached bytes with strong ETags, and a fast path for the board.

``web/services.py`` makes the ``BoardCache``; ``web/app.py`` includes the routes and puts ``BoardFastPathMiddleware``
around the application, ``web/errors.py`` adds the handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.about import pages as about
from leaderboard.analyse import pages as analyse
from leaderboard.board import service as board_page
from leaderboard.compare import pages as compare
from leaderboard.decisions import pages as decisions
from leaderboard.entry import pages as entry
from leaderboard.explore import pages as explore
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.parameters import BoardQuery, read_query
from leaderboard.reported import pages as reported
from leaderboard.share import pages as sharing
from leaderboard.share.feed import Log, nothing
from leaderboard.site import render
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.pages import message_reply, not_found_page, status_page
from leaderboard.site.responses import (
    EMBEDDABLE,
    FOREVER,
    HTML,
    JSON,
    OF_A_LANGUAGE,
    REVALIDATE,
    etag_matches,
    query_of,
    requested_version,
    respond,
    response_headers,
)
from vlrb.benchmarks.spec import BenchmarkSpec

_FRONT = "/"


def front_page(board_version: BoardVersion) -> CachedResponse:
    """Return the bytes of / for a board version; given to BoardCache, it runs before a version is shown."""
    return board_version.get_or_render(_FRONT, partial(_render_front, board_version))


def _render_front(board_version: BoardVersion) -> CachedResponse:
    return CachedResponse.of(board_page.board_page(board_version, BoardQuery(board_version.spec)).encode(), HTML)


def _render_orders(board_version: BoardVersion) -> CachedResponse:
    return CachedResponse.of(orjson.dumps(board_page.board_orders(board_version)), JSON)


def build(
    cache: BoardCache,
    catalog: ItemCatalog,
    *,
    log: Log = nothing,
    elsewhere: Callable[[str], str | None] = lambda _: None,
    log_of_all: Log | None = None,
) -> APIRouter:
    """Routes of the board, its column file, entries and static files, and of the pages beside it; ``log``
    tells what was decided, ``elsewhere`` where an entry of another benchmark is found."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def board(request: Request) -> Response:
        return await _board_reply(cache, catalog, request)

    @router.api_route("/static/{name}", methods=["GET", "HEAD"])
    async def static(name: str, request: Request) -> Response:
        return _static(name, cache.spec, headers=request.headers) or not_found_page(cache.context, request.headers)

    router.include_router(analyse.build(cache, catalog))
    router.include_router(compare.build(cache, catalog))
    router.include_router(explore.build(cache, catalog))
    router.include_router(reported.build(cache))
    router.include_router(about.build(cache, catalog))
    router.include_router(entry.build(cache, catalog, elsewhere))
    router.include_router(decisions.build(cache, log, log_of_all or log))
    router.include_router(sharing.build(cache, log))
    return router


async def _board_reply(cache: BoardCache, catalog: ItemCatalog, request: Request) -> Response:
    """Return the page at /, a view of it, or the part of it that differs between views."""
    board_version = await requested_version(cache, request)
    if board_version is None:
        return message_reply(cache.context, "no-board", request.headers)
    asked = request.query_params.get("part")
    if asked == "orders":
        orders = await board_version.ready(asked, partial(_render_orders, board_version))
        reply = respond(orders, request.headers)
        reply.headers["Vary"] = OF_A_LANGUAGE
        return reply
    part: board_page.Part = "board" if asked == "board" else ""
    view = read_query(query_of(request, board_version), board_version.revisions, spec=board_version.spec)
    if not part and view == BoardQuery(board_version.spec):
        return respond(await board_version.ready(_FRONT, partial(_render_front, board_version)), request.headers)
    best_set = catalog.best_set(board_version, view)
    response = await board_version.ready(
        f"{view.url()}#{part}",
        lambda: status_page(board_page.board_page(board_version, view, best_set=best_set, part=part)),
    )
    reply = respond(response, request.headers)
    if view.embed:
        reply.headers["Content-Security-Policy"] = EMBEDDABLE
    return reply


def _static(name: str, spec: BenchmarkSpec, *, headers: Headers) -> Response | None:
    for asset in render.assets(spec).values():
        if asset.url == f"/static/{name}":
            return respond(asset.body, headers, cache_control=FOREVER)
        if asset.name == name:  # without its hash, for pages that cannot know it
            return respond(asset.body, headers)
    return None


class BoardFastPathMiddleware:
    """ASGI: answers ``GET /`` without a query from the bytes, ahead of whatever looks at requests; all else goes on,
    and so does a page that has to be rendered first.

    ``may``: whether a request may be answered so; others are for the middleware to refuse. ``others``: the boards of
    other benchmarks, each at its own address.
    """

    def __init__(
        self,
        app: ASGIApp,
        cache: BoardCache,
        *,
        may: Callable[[Scope], bool] = lambda _: True,
        others: Sequence[BoardCache] = (),
    ) -> None:
        self._app, self._may = app, may
        self._boards = {f"{board.context.prefix}/": board for board in (cache, *others)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if (
            scope["type"] != "http"
            or (board := self._boards.get(scope["path"])) is None
            or scope["method"] != "GET"
            or scope.get("query_string")
            or scope.get("root_path")
            or not self._may(scope)
        ):
            await self._app(scope, receive, send)
            return
        board_version = board.peek() or await board.current()
        body = board_version.get_cached(_FRONT)
        if body is None:  # the route makes it beside the event loop
            await self._app(scope, receive, send)
            return
        accept, if_none_match = b"", b""
        for name, value in scope["headers"]:
            if name == b"accept-encoding":
                accept = value
            elif name == b"if-none-match":
                if_none_match = value
        coding = body.choose(accept.decode("latin-1"))
        unchanged = bool(if_none_match) and etag_matches(if_none_match.decode("latin-1"), body.etags[coding])
        start, content = _messages(body, coding, unchanged)
        await send(start)
        await send(content)


@lru_cache(maxsize=64)  # of a page in each encoding and language
def _messages(body: CachedResponse, coding: str, unchanged: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ASGI messages of a front page."""
    content = b"" if unchanged else body.encodings[coding]
    head = response_headers(body, coding, cache_control=REVALIDATE)
    if not unchanged:
        head |= {"Content-Type": body.media_type, "Content-Length": str(len(content))}
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in head.items()]
    return (
        {"type": "http.response.start", "status": 304 if unchanged else 200, "headers": headers},
        {"type": "http.response.body", "body": content},
    )
