"""Routes of the pages beside the board: number check, compare, explore, about, and the sample file."""

from __future__ import annotations

import asyncio
from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from leaderboard.cache import BoardCache, CachedResponse
from leaderboard.pages import about, analyse, explore, red_team, reported, tool_pages
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.pages.status_pages import message_reply, status_page
from leaderboard.responses import (
    HTML,
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


def build(cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> APIRouter:
    """Return the routes; ``not_found`` makes the page for addresses that name nothing."""
    router = APIRouter(include_in_schema=False)
    router.include_router(_plain(cache, not_found=not_found))
    router.include_router(_compare(cache, catalog))
    router.include_router(_analyse(cache, catalog, not_found=not_found))
    router.include_router(_explore(cache, catalog, not_found=not_found))
    router.include_router(_about(cache, catalog))
    return router


def _plain(cache: BoardCache, *, not_found: NotFoundPage) -> APIRouter:
    """Return the pages without a choice of judges: number check, published figures, exploits."""
    router, context = APIRouter(), cache.context

    @router.api_route("/check-numbers", methods=["GET", "HEAD"])
    async def check_numbers(request: Request) -> Response:
        if not (context.spec.splits or context.spec.editions):
            return not_found(request.headers)
        page, wrong = await asyncio.to_thread(tool_pages.check_page, context, request.query_params)
        return respond(status_page(page), request.headers, status=400 if wrong else 200)

    @router.api_route(reported.PATH, methods=["GET", "HEAD"])
    async def published_figures(request: Request) -> Response:
        board_version = await cache.current()
        view = reported.read_view(request.query_params)
        response = await board_version.ready(
            view.url(), lambda: status_page(reported.reported_page(board_version, view))
        )
        return respond(response, request.headers)

    @router.api_route("/red-team", methods=["GET", "HEAD"])
    async def known_exploits(request: Request) -> Response:
        return respond(status_page(red_team.page(context)), request.headers)

    return router


def _compare(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    router = APIRouter()

    @router.api_route("/compare", methods=["GET", "HEAD"])
    async def compare(request: Request) -> Response:
        board_version = await requested_version(cache, request)
        if board_version is None:
            return message_reply(cache.context, "no-board", request.headers)
        choice = await asyncio.to_thread(tool_pages.read_choice, query_of(request, board_version), board_version)
        response = await board_version.ready(
            choice.url(), lambda: status_page(tool_pages.compare_page(board_version, catalog, choice=choice))
        )
        return respond(response, request.headers)

    return router


def _analyse(cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> APIRouter:
    router = APIRouter()

    @router.api_route(analyse.PATH, methods=["GET", "HEAD"])
    async def analyse_page(request: Request) -> Response:
        board_version = await requested_version(cache, request)
        if board_version is None:
            return message_reply(cache.context, "no-board", request.headers)
        query = await asyncio.to_thread(analyse.read_query, query_of(request, board_version), board_version)
        key = f"{query.url()}|{query.add}"
        response = await board_version.ready(
            key, lambda: status_page(analyse.analyse_page(board_version, query, catalog=catalog))
        )
        return respond(response, request.headers, drawing=True)

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

    return router


def _explore(cache: BoardCache, catalog: ItemCatalog, *, not_found: NotFoundPage) -> APIRouter:
    router = APIRouter()

    @router.api_route("/explore", methods=["GET", "HEAD"])
    async def all_pairs(request: Request) -> Response:
        board_version = await cache.current()
        query = explore.read_query(request.query_params, board_version.spec)
        response = await board_version.ready(
            query.url(), lambda: status_page(tool_pages.explore_page(board_version, catalog, query=query))
        )
        return respond(response, request.headers)

    @router.api_route("/explore/{name}", methods=["GET", "HEAD"])
    async def one_pair(name: str, request: Request) -> Response:
        page = await asyncio.to_thread(tool_pages.item_page, await cache.current(), catalog, name=name)
        return respond(status_page(page), request.headers) if page is not None else not_found(request.headers)

    @router.api_route("/explore/{name}/image", methods=["GET", "HEAD"])
    async def image(name: str, request: Request) -> Response:
        board_version = await cache.current()
        path = await asyncio.to_thread(tool_pages.image_of, board_version, catalog, name=name)
        kind = _IMAGES.get(path.suffix.lower()) if path is not None else None
        if path is None or kind is None:
            return not_found(request.headers)
        return FileResponse(path, headers={**SECURITY, "Cache-Control": REVALIDATE}, media_type=kind)

    return router


def _about(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    router = APIRouter()

    @router.api_route("/about", methods=["GET", "HEAD"])
    async def about_page(request: Request) -> Response:
        board_version = await cache.current()
        response = await board_version.ready(
            "/about", lambda: CachedResponse.of(tool_pages.about_page(board_version, catalog).encode(), HTML)
        )
        return respond(response, request.headers, drawing=True)

    @router.api_route("/sample-predictions.jsonl", methods=["GET", "HEAD"])
    async def sample(request: Request) -> Response:
        board_version = await cache.current()

        def make() -> CachedResponse:
            return CachedResponse.of(about.sample_file(catalog.table, board_version.snapshot["label_revision"]), _LINES)

        reply = respond(await board_version.ready("/sample-predictions.jsonl", make), request.headers)
        reply.headers["Content-Disposition"] = 'attachment; filename="sample-predictions.jsonl"'
        return reply

    return router
