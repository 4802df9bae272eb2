"""Routes of exports, citations, badges, pictures, the feed and /docs.

Mounted by ``leaderboard.board.pages.build``. Every body is made once per snapshot and has a strong ETag,
as the pages have.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from auth.csrf import base_url
from auth.problem_details import problem
from leaderboard.ranking.parameters import BoardQuery, read_query
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.share import api_reference, badge, citation, exports, feed, og_image
from leaderboard.share.feed import Log, nothing
from leaderboard.share.summary import row_of, summarize
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.pages import not_found_page
from leaderboard.site.render import permanent
from leaderboard.site.responses import HTML, no_entry, requested_version, respond
from vlrb.common.messages import _

_SVG, _PNG, _ATOM = "image/svg+xml; charset=utf-8", "image/png", "application/atom+xml; charset=utf-8"
_BIBTEX = "application/x-bibtex; charset=utf-8"
_A_WHILE = "public, max-age=300"  # seconds; what other sites show is asked for again and again
_COMPRESSED = (_PNG, *(form.media_type for form in exports.FORMATS.values() if form.compressed))


def build(cache: BoardCache, log: Log = nothing) -> APIRouter:
    """Return the routes; ``log`` tells what was decided."""
    router = APIRouter(include_in_schema=False)
    _add_files(router, cache)
    for path, file in _ENTRY_FILES.items():
        _add_entry_file(router, cache, path=path, file=file)
    _add_for_programs(router, cache, log)
    return router


def _add_files(router: APIRouter, cache: BoardCache) -> None:
    @router.api_route("/export/board.{suffix}", methods=["GET", "HEAD"])
    async def board_file(suffix: str, request: Request) -> Response:
        board_version = await requested_version(cache, request)
        form = exports.FORMATS.get(suffix)
        if board_version is None or form is None:
            return not_found_page(cache.context, request.headers)
        view = read_query(request.query_params, board_version.revisions, spec=board_version.spec)
        base = base_of(board_version, request)
        board = await asyncio.to_thread(_board, board_version, view)

        def make() -> CachedResponse:
            taken = exports.extract(board, view, address=_address(board, view, base=base))
            return _body(form.write(taken), form.media_type)

        response = await board_version.ready(f"/export/{suffix}|{base}|{view.url(page=1, embed=False)}", make)
        reply = respond(response, request.headers)
        rules = (board.protocol, board.grouping, board.label_revision)
        name = form.file_name(board.benchmark, *rules, board.as_of[:10])
        return _named(reply, name, disposition="attachment")

    @router.api_route("/export/cite.bib", methods=["GET", "HEAD"])
    async def cite(request: Request) -> Response:
        board_version = await requested_version(cache, request)
        if board_version is None:
            return not_found_page(cache.context, request.headers)
        view = read_query(request.query_params, board_version.revisions, spec=board_version.spec)
        base = base_of(board_version, request)
        make = lambda: _body(citations(board_version, view, base=base).encode(), _BIBTEX)  # noqa: E731
        response = await board_version.ready(f"/export/cite.bib|{base}|{view.url(page=1, embed=False)}", make)
        return _named(respond(response, request.headers), f"{exports.file_stem(board_version.spec)}.bib")


@dataclass(frozen=True, slots=True)
class EntryFile:
    """A file about an entry. ``exact``: it is of the labels asked for alone."""

    media_type: str
    make: Callable[[BoardRow, Board, str], bytes]
    exact: bool = True


def _add_entry_file(router: APIRouter, cache: BoardCache, *, path: str, file: EntryFile) -> None:
    @router.api_route(f"/entries/{{entry_id}}/{path}", methods=["GET", "HEAD"])
    async def send_entry_file(entry_id: str, request: Request) -> Response:
        board_version = await requested_version(cache, request)
        if board_version is None:
            return problem(404, "unknown-entry", detail=_("There is no entry with this id."))
        # Of a score under no other labels than these there is a badge or a record.
        current = str(board_version.snapshot["label_revision"]) if file.exact else ""
        revision = request.query_params.get("revision") or current
        result = await asyncio.to_thread(row_of, board_version, entry_id, revision=revision)
        if result is None:
            return no_entry(board_version, entry_id)
        base = base_of(board_version, request)
        key = f"/entries/{entry_id}/{path}|{result[1].label_revision}|{base}"
        made = lambda: _body(file.make(*result, base), file.media_type)  # noqa: E731
        reply = respond(await board_version.ready(key, made), request.headers, cache_control=_A_WHILE)
        return _named(reply, f"{result[1].benchmark.replace('-', '_')}.{path.rpartition('.')[2]}")


_ENTRY_FILES = {
    "badge.svg": EntryFile(_SVG, lambda row, board, base: badge.badge(summarize(row, board))),
    "og.png": EntryFile(_PNG, lambda row, board, base: og_image.of_entry(row, board), exact=False),
    "cite.bib": EntryFile(
        _BIBTEX, lambda row, board, base: entry_citations(row, board, base=base).encode(), exact=False
    ),
}


def _add_for_programs(router: APIRouter, cache: BoardCache, log: Log) -> None:
    @router.api_route("/og.png", methods=["GET", "HEAD"])
    async def picture(request: Request) -> Response:
        board_version = await cache.current()
        response = await board_version.ready("/og.png", lambda: _body(og_image.of_board(board_version.board()), _PNG))
        return respond(response, request.headers, cache_control=_A_WHILE)

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def docs(request: Request) -> Response:
        board_version = await cache.current()
        described: Mapping[str, Any] = request.app.openapi()
        base = base_of(board_version, request)
        make = lambda: _body(api_reference.page(cache.context, described, base=base).encode(), HTML)  # noqa: E731
        response = await board_version.ready(f"/docs|{base}", make)
        return respond(response, request.headers)

    @router.api_route("/feed.xml", methods=["GET", "HEAD"])
    async def atom(request: Request) -> Response:
        board_version = await cache.current()
        base = base_of(board_version, request)
        changes = await asyncio.to_thread(log, None, feed.NEWEST, False)
        latest = changes[0]["seq"] if changes else 0
        response = await board_version.ready(
            f"/feed.xml|{base}|{latest}", lambda: _body(feed.feed(board_version.board(), base, changes=changes), _ATOM)
        )
        return respond(response, request.headers, cache_control=_A_WHILE)


def base_of(board_version: BoardVersion, request: Request) -> str:
    """Return where the benchmark's pages stand for others, without a slash at the end: as configured, or as this
    request found it."""
    origin = base_url(board_version.public_url, request.url.scheme, host=request.headers.get("host", ""))
    return origin + board_version.context.prefix


def citations(board_version: BoardVersion, view: BoardQuery, *, base: str) -> str:
    """Return the benchmark, and a view of the board as it is."""
    board = _board(board_version, view)
    return f"{board.spec.citation}\n{citation.of_board(board, _address(board, view, base=base))}"


def entry_citations(row: BoardRow, board: Board, *, base: str) -> str:
    """Return the entry, and the benchmark."""
    return f"{citation.of_entry(row, board, address=f'{base}/entries/{row.id}')}\n{board.spec.citation}"


def _board(board_version: BoardVersion, view: BoardQuery) -> Board:
    return board_version.board(view.protocol, view.grouping, revision=view.revision)


def _address(board: Board, view: BoardQuery, *, base: str) -> str:
    """Return the permanent address of this query and snapshot."""
    return base + view.url(as_of=permanent(board), page=1, embed=False)


def _named(reply: Response, name: str, *, disposition: str = "inline") -> Response:
    reply.headers["Content-Disposition"] = f'{disposition}; filename="{name}"'
    return reply


def _body(content: bytes, media_type: str) -> CachedResponse:
    if media_type in _COMPRESSED:
        return CachedResponse(
            media_type, {"identity": content}, etags={"identity": f'"{hashlib.sha256(content).hexdigest()[:20]}"'}
        )
    return CachedResponse.of(content, media_type, quick=True)
