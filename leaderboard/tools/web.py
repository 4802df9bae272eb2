"""Routes of the pages beside the board: check my numbers, compare, explore, about, and the sample file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response

from leaderboard.messages import no_board, quick
from leaderboard.replies import HTML, REVALIDATE, SECURITY, asked, respond
from leaderboard.site import Body, Site
from leaderboard.tools import about, check, explore, pages, red_team
from leaderboard.tools.materials import Materials
from leaderboard.turns import Busy, Turns
from leaderboard.view import read_as_of

NotFound = Callable[[Headers], Response]
_IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}
_BUSY = "Too many others are checking numbers at the moment. Please try again in a few seconds."
_LINES = "application/jsonl; charset=utf-8"


def build(site: Site, materials: Materials, not_found: NotFound) -> APIRouter:
    """The routes; ``not_found`` makes the page for addresses that name nothing."""
    router = APIRouter(include_in_schema=False)
    router.include_router(_check(Turns()))
    router.include_router(_compare(site, materials))
    router.include_router(_explore(site, materials, not_found))
    router.include_router(_about(site, materials))
    router.include_router(_red_team())
    return router


def _check(turns: Turns) -> APIRouter:
    router = APIRouter()

    @router.api_route("/check-numbers", methods=["GET", "HEAD"])
    async def check_numbers(request: Request) -> Response:
        asked = check.read(request.query_params)
        problem = None
        if any(asked):
            try:
                await turns.take(check.answer, asked)
            except check.BadFigures as wrong:
                problem = wrong
            except Busy:
                problem = check.BadFigures(None, _BUSY)
        page = await asyncio.to_thread(pages.check_page, asked, problem)
        status = 200 if problem is None else 503 if str(problem) == _BUSY else 400
        return respond(quick(page), request.headers, status=status)

    return router


def _compare(site: Site, materials: Materials) -> APIRouter:
    router = APIRouter()

    @router.api_route("/compare", methods=["GET", "HEAD"])
    async def compare(request: Request) -> Response:
        edition = await asked(site, request)
        if edition is None:
            return no_board(request.headers)
        choice = pages.read_choice(request.query_params, edition.revisions)
        made = await edition.ready(choice.url(), lambda: quick(pages.compare_page(edition, materials, choice)))
        return respond(made, request.headers)

    return router


def _explore(site: Site, materials: Materials, not_found: NotFound) -> APIRouter:
    router = APIRouter()

    @router.api_route("/explore", methods=["GET", "HEAD"])
    async def all_pairs(request: Request) -> Response:
        edition = await asked(site, request)
        if edition is None:
            return no_board(request.headers)
        query = explore.read_query(request.query_params)
        made = await edition.ready(query.url(), lambda: quick(pages.explore_page(edition, materials, query)))
        return respond(made, request.headers)

    @router.api_route("/explore/{name}", methods=["GET", "HEAD"])
    async def one_pair(name: str, request: Request) -> Response:
        edition = await asked(site, request)
        if edition is None:
            return no_board(request.headers)
        page = await asyncio.to_thread(pages.item_page, edition, materials, name, read_as_of(request.query_params))
        return respond(quick(page), request.headers) if page is not None else not_found(request.headers)

    @router.api_route("/explore/{name}/image", methods=["GET", "HEAD"])
    async def image(name: str, request: Request) -> Response:
        edition = await site.current()
        path = await asyncio.to_thread(pages.image_of, edition, materials, name)
        kind = _IMAGES.get(path.suffix.lower()) if path is not None else None
        if path is None or kind is None:
            return not_found(request.headers)
        return FileResponse(path, headers={**SECURITY, "Cache-Control": REVALIDATE}, media_type=kind)

    return router


def _red_team() -> APIRouter:
    router = APIRouter()

    @router.api_route("/red-team", methods=["GET", "HEAD"])
    async def known_exploits(request: Request) -> Response:
        return respond(quick(red_team.page()), request.headers)

    return router


def _about(site: Site, materials: Materials) -> APIRouter:
    router = APIRouter()

    @router.api_route("/about", methods=["GET", "HEAD"])
    async def about_page(request: Request) -> Response:
        edition = await site.current()
        made = await edition.ready("/about", lambda: Body.of(pages.about_page(edition, materials).encode(), HTML))
        return respond(made, request.headers)

    @router.api_route("/sample-predictions.jsonl", methods=["GET", "HEAD"])
    async def sample(request: Request) -> Response:
        edition = await site.current()

        def make() -> Body:
            return Body.of(about.sample_file(materials.table, edition.snapshot["label_revision"]), _LINES)

        reply = respond(await edition.ready("/sample-predictions.jsonl", make), request.headers)
        reply.headers["Content-Disposition"] = 'attachment; filename="sample-predictions.jsonl"'
        return reply

    return router
