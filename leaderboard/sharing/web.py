"""Routes of what can be taken along: files of a view, citations, badges, pictures, the feed, notes for agents, /docs.

Mounted by ``leaderboard.web.build``. Every body is made once per snapshot and has a strong ETag, as the pages have.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from identity.origins import address
from identity.problems import problem
from leaderboard import exports, messages
from leaderboard.board import Board, Row
from leaderboard.log.web import Log, about_the_board, nothing
from leaderboard.render import permanent
from leaderboard.replies import HTML, asked, no_entry, respond
from leaderboard.sharing import agents, badge, citation, feed, hub, picture, reference
from leaderboard.sharing.line import line, row_of
from leaderboard.site import Body, Edition, Site
from leaderboard.turns import Busy, Turns
from leaderboard.view import View, read_view

NotFound = Callable[[Headers], Response]

_SVG, _PNG, _ATOM = "image/svg+xml; charset=utf-8", "image/png", "application/atom+xml; charset=utf-8"
_BIBTEX, _YAML = "application/x-bibtex; charset=utf-8", "application/yaml; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_BADGE = "badge.svg"
_A_WHILE = "public, max-age=300"  # seconds; what other sites show is asked for again and again
_COMPRESSED = (_PNG, exports.FORMATS["parquet"].media_type)


def build(site: Site, not_found: NotFound, log: Log = nothing) -> APIRouter:
    """The routes; ``not_found`` makes the page for addresses that name nothing, ``log`` tells what was decided."""
    router = APIRouter(include_in_schema=False)
    router.include_router(_files(site, not_found))
    router.include_router(_entries(site, not_found))
    router.include_router(_for_programs(site))
    router.include_router(_feed(site, log))
    return router


def _files(site: Site, not_found: NotFound) -> APIRouter:
    router = APIRouter()
    turns = Turns()

    async def ready(edition: Edition, key: str, make: Callable[[], Body]) -> Body:
        found = edition.made(key)
        return found if found is not None else await turns.take(partial(edition.body, key), make)

    @router.api_route("/export/board.{suffix}", methods=["GET", "HEAD"])
    async def board_file(suffix: str, request: Request) -> Response:
        edition = await asked(site, request)
        form = exports.FORMATS.get(suffix)
        if edition is None or form is None:
            return not_found(request.headers)
        view, base = read_view(request.query_params, edition.revisions), base_of(edition, request)
        make = lambda: _body(form.write(_extract(edition, view, base)), form.media_type)  # noqa: E731
        try:
            made = await ready(edition, f"/export/{suffix}|{base}|{view.url(page=1, embed=False)}", make)
        except Busy:
            return _busy()
        reply = respond(made, request.headers)
        board = await asyncio.to_thread(_board, edition, view)
        rules = (board.protocol, board.grouping, board.label_revision)
        name = form.file_name(board.benchmark, *rules, board.as_of[:10])
        return _named(reply, name, "attachment")

    @router.api_route("/export/cite.bib", methods=["GET", "HEAD"])
    async def cite(request: Request) -> Response:
        edition = await asked(site, request)
        if edition is None:
            return not_found(request.headers)
        view, base = read_view(request.query_params, edition.revisions), base_of(edition, request)
        make = lambda: _body(citations(edition, view, base).encode(), _BIBTEX)  # noqa: E731
        try:
            made = await ready(edition, f"/export/cite.bib|{base}|{view.url(page=1, embed=False)}", make)
        except Busy:
            return _busy()
        return _named(respond(made, request.headers), "vl-rewardbench.bib")

    return router


def _entries(site: Site, not_found: NotFound) -> APIRouter:
    router = APIRouter()

    def left(edition: Edition, entry_id: str, path: str, headers: Headers) -> Response:
        """As the entry's page: a merged one leads on, a withdrawn one is gone, and its badge says so."""
        stub = edition.stub(entry_id)
        if stub is None:
            return not_found(headers)
        if into := stub.get("merged_into"):
            return RedirectResponse(f"/entries/{into}/{path}", 308)
        if path != _BADGE:
            return messages.withdrawn(stub, headers)
        name = " ".join(filter(None, (stub["model"], stub["version"])))
        return respond(_body(badge.withdrawn(name), _SVG), headers, status=410, cache_control=_A_WHILE)

    def route(path: str, media_type: str, make: Callable[[Edition, Row, Board, str], bytes]) -> None:
        async def one(entry_id: str, request: Request) -> Response:
            edition = await asked(site, request)
            revision = request.query_params.get("revision", "")
            found = await asyncio.to_thread(row_of, edition, entry_id, revision) if edition is not None else None
            if edition is None:
                return not_found(request.headers)
            if found is None:
                return left(edition, entry_id, path, request.headers)
            base = base_of(edition, request)
            key = f"/entries/{entry_id}/{path}|{found[1].label_revision}|{base}"
            made = await edition.ready(key, lambda: _body(make(edition, *found, base), media_type))
            return respond(made, request.headers, cache_control=_A_WHILE)

        router.add_api_route(f"/entries/{{entry_id}}/{path}", one, methods=["GET", "HEAD"])

    route(_BADGE, _SVG, lambda edition, row, board, base: badge.badge(line(row, board)))
    route("og.png", _PNG, lambda edition, row, board, base: picture.of_entry(row, board))
    route("cite.bib", _BIBTEX, lambda edition, row, board, base: entry_citations(row, board, base).encode())

    @router.api_route("/entries/{entry_id}/eval_results.yaml", methods=["GET", "HEAD"])
    async def eval_results(entry_id: str, request: Request) -> Response:
        edition = await asked(site, request)
        found = await asyncio.to_thread(row_of, edition, entry_id) if edition is not None else None
        if edition is None:
            return problem(404, "unknown-entry", "There is no entry with this id.")
        if found is None:
            return no_entry(edition, entry_id, "/entries/{}/eval_results.yaml")
        row, board = found
        refusal = hub.refusal(row, board)
        if refusal is not None:
            return problem(404, "no-eval-results", refusal)
        entry, address = edition.entry(entry_id) or {}, f"{base_of(edition, request)}/entries/{entry_id}"
        make = lambda: _body(hub.eval_results(entry, row, board, address), _YAML)  # noqa: E731
        made = await edition.ready(f"{address}/eval_results.yaml", make)
        return _named(respond(made, request.headers), "vl_rewardbench.yaml")

    return router


def _for_programs(site: Site) -> APIRouter:
    router = APIRouter()

    def route(path: str, media_type: str, make: Callable[[Edition, str], bytes]) -> None:
        async def one(request: Request) -> Response:
            edition = await site.current()
            base = base_of(edition, request)
            made = await edition.ready(f"{path}|{base}", lambda: _body(make(edition, base), media_type))
            return respond(made, request.headers, cache_control=_A_WHILE)

        router.add_api_route(path, one, methods=["GET", "HEAD"])

    route("/og.png", _PNG, lambda edition, base: picture.of_board(edition.board()))
    route("/llms.txt", _TEXT, lambda edition, base: agents.llms_txt(edition.board(), base).encode())

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def docs(request: Request) -> Response:
        edition = await site.current()
        described: Mapping[str, Any] = request.app.openapi()
        base = base_of(edition, request)
        made = await edition.ready(f"/docs|{base}", lambda: _body(reference.page(described, base).encode(), HTML))
        return respond(made, request.headers)

    return router


def _feed(site: Site, log: Log) -> APIRouter:
    router = APIRouter()

    @router.api_route("/feed.xml", methods=["GET", "HEAD"])
    async def atom(request: Request) -> Response:
        edition = await site.current()
        base = base_of(edition, request)
        changes = about_the_board(await asyncio.to_thread(log, None, feed.NEWEST, False))
        latest = changes[0]["seq"] if changes else 0
        made = await edition.ready(
            f"/feed.xml|{base}|{latest}", lambda: _body(feed.feed(edition.board(), base, changes), _ATOM)
        )
        return respond(made, request.headers, cache_control=_A_WHILE)

    return router


def base_of(edition: Edition, request: Request) -> str:
    """Where the service stands for others, without a slash at the end: as configured, or as this request found it."""
    return address(edition.public_url, request.url.scheme, request.headers.get("host", ""))


def citations(edition: Edition, view: View, base: str) -> str:
    """The benchmark, and a view of the board as it stands."""
    board = _board(edition, view)
    return f"{citation.BENCHMARK}\n{citation.of_board(board, _address(board, view, base))}"


def entry_citations(row: Row, board: Board, base: str) -> str:
    """The entry, and the benchmark."""
    return f"{citation.of_entry(row, board, f'{base}/entries/{row.id}')}\n{citation.BENCHMARK}"


def _board(edition: Edition, view: View) -> Board:
    return edition.board(view.protocol, view.grouping, view.revision)


def _extract(edition: Edition, view: View, base: str) -> exports.Extract:
    board = _board(edition, view)
    hidden = edition.hides(board.label_revision)
    return exports.extract(board, view, _address(board, view, base), hidden=hidden)


def _address(board: Board, view: View, base: str) -> str:
    """Where this view of this snapshot is found for ever."""
    return base + view.url(as_of=permanent(board), page=1, embed=False)


def _busy() -> Response:
    return problem(503, "busy", "Too many files are being made at the moment; try again in a moment.", retry_after=5)


def _named(reply: Response, name: str, disposition: str = "inline") -> Response:
    reply.headers["Content-Disposition"] = f'{disposition}; filename="{name}"'
    return reply


def _body(content: bytes, media_type: str) -> Body:
    if media_type in _COMPRESSED:
        return Body(media_type, {"identity": content}, {"identity": f'"{hashlib.sha256(content).hexdigest()[:20]}"'})
    return Body.of(content, media_type, quick=True)
