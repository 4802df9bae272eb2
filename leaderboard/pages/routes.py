"""Routes of the pages beside the board: compare, analyse, explore, published figures, about, number check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.pages import about, analyse, compare_page, explore, number_check, red_team, reported
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.pages.status_pages import message_reply, status_page
from leaderboard.render_context import RenderContext
from leaderboard.responses import (
    OF_A_LANGUAGE,
    REVALIDATE,
    SECURITY,
    NotFoundPage,
    query_of,
    requested_version,
    respond,
)

_IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}
_LINES = "application/jsonl; charset=utf-8"


_View = Callable[[BoardVersion, Mapping[str, str]], tuple[str, Callable[[], str]]]
"""What reads a query string: the key of the page asked for, and what makes it."""


def build(cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> APIRouter:
    """Return the routes; ``not_found`` makes the page for addresses that name nothing."""
    router = APIRouter(include_in_schema=False)

    def compare(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        choice = compare_page.read_choice(parameters, version)
        return choice.url(), partial(compare_page.compare_page, version, catalog, choice=choice)

    def figures(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        query = analyse.read_query(parameters, version)
        return f"{query.url()}|{query.add}", partial(analyse.analyse_page, version, query, catalog=catalog)

    def pairs(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        query = explore.read_query(parameters, version.spec)
        return query.url(), partial(explore.explore_page, version, catalog, query=query)

    def published(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        view = reported.read_view(parameters)
        return view.url(), partial(reported.reported_page, version, view)

    _add_page(router, cache, "/compare", compare, dated=True)
    _add_page(router, cache, analyse.PATH, figures, dated=True, drawing=True)
    _add_page(router, cache, "/explore", pairs)
    _add_page(router, cache, reported.PATH, published)
    _add_page(
        router,
        cache,
        "/about",
        lambda version, _parameters: ("/about", partial(about.about_page, version, catalog)),
        drawing=True,
    )
    _add_plain(router, cache.context, not_found=not_found)
    _add_pairs(router, cache, catalog, not_found=not_found)
    _add_files(router, cache, catalog, not_found=not_found)
    return router


def _add_page(
    router: APIRouter, cache: BoardCache, path: str, view: _View, *, dated: bool = False, drawing: bool = False
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


def _add_plain(router: APIRouter, context: RenderContext, *, not_found: NotFoundPage) -> None:
    """Add the pages that are about no board: number check, exploits."""

    @router.api_route("/check-numbers", methods=["GET", "HEAD"])
    async def check_numbers(request: Request) -> Response:
        if not (context.spec.splits or context.spec.editions):
            return not_found(request.headers)
        page, wrong = await asyncio.to_thread(number_check.check_page, context, request.query_params)
        return respond(status_page(page), request.headers, status=400 if wrong else 200)

    @router.api_route("/red-team", methods=["GET", "HEAD"])
    async def known_exploits(request: Request) -> Response:
        return respond(status_page(red_team.page(context)), request.headers)


def _add_pairs(router: APIRouter, cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> None:
    """Add the pages of single pairs, and their images."""

    @router.api_route("/explore/{name}", methods=["GET", "HEAD"])
    async def one_pair(name: str, request: Request) -> Response:
        page = await asyncio.to_thread(explore.item_page, await cache.current(), catalog, name=name)
        return respond(status_page(page), request.headers) if page is not None else not_found(request.headers)

    @router.api_route("/explore/{name}/image", methods=["GET", "HEAD"])
    async def image(name: str, request: Request) -> Response:
        board_version = await cache.current()
        path = await asyncio.to_thread(explore.image_of, board_version, catalog, name=name)
        kind = _IMAGES.get(path.suffix.lower()) if path is not None else None
        if path is None or kind is None:
            return not_found(request.headers)
        return FileResponse(path, headers={**SECURITY, "Cache-Control": REVALIDATE}, media_type=kind)


def _add_files(router: APIRouter, cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> None:
    """Add files of figures, and the sample of predictions."""

    @router.api_route(f"{analyse.PATH}.{{kind}}", methods=["GET", "HEAD"])
    async def figure(kind: str, request: Request) -> Response:
        board_version = await requested_version(cache, request) if kind in analyse.FILES else None
        if board_version is None:
            return not_found(request.headers)
        query = await asyncio.to_thread(analyse.read_query, query_of(request, board_version), board_version)
        key, make = query.url(kind), partial(analyse.figure_file, board_version, query, catalog)
        response = board_version.get_cached(key) or await board_version.executor.take(make, kind)
        if response is None:
            return not_found(request.headers)
        reply = respond(board_version.get_or_render(key, lambda: response), request.headers)
        reply.headers["Vary"] = OF_A_LANGUAGE
        reply.headers["Content-Disposition"] = f'attachment; filename="{query.file_name(kind)}"'
        return reply

    @router.api_route("/sample-predictions.jsonl", methods=["GET", "HEAD"])
    async def sample(request: Request) -> Response:
        board_version = await cache.current()

        def make() -> CachedResponse:
            return CachedResponse.of(about.sample_file(catalog.table, board_version.snapshot["label_revision"]), _LINES)

        reply = respond(await board_version.ready("/sample-predictions.jsonl", make), request.headers)
        reply.headers["Content-Disposition"] = 'attachment; filename="sample-predictions.jsonl"'
        return reply
