"""The pages and routes of reviews on an application of their own; who asks is in a header."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp

from auth import AuthError
from auth.problem_details import refusal
from leaderboard.site.pages import not_found_page
from leaderboard.site.render import account_pages, assets
from leaderboard.site.render_context import RenderContext
from maintenance import api
from maintenance.action_context import ItemLookup
from review import pages
from storage.database import Database
from tests.factories.accounts import (
    ANNOTATOR,
    ANONYMOUS,
    LOCAL,
    MAINTAIN_TOKEN,
    MAINTAINER,
    OWNER_OF_IT,
    SECOND_MAINTAINER,
    STRANGER,
)
from tests.factories.actions import by
from web.actions import ACTIONS
from web.middleware.languages import LanguageMiddleware

PEOPLE = {
    one.account: one
    for one in (ANNOTATOR, ANONYMOUS, LOCAL, MAINTAIN_TOKEN, MAINTAINER, OWNER_OF_IT, SECOND_MAINTAINER, STRANGER)
}


def signed_in_by_header(app: FastAPI) -> FastAPI:
    """Return the application, in which who asks is whose account a header names."""

    @app.middleware("http")
    async def sign_in(request: Request, call_next: Any) -> Any:
        request.state.identity = PEOPLE[request.headers.get("x-account", "")]
        return await call_next(request)

    return app


def serve(database: Database, catalog: ItemLookup) -> ASGIApp:
    app = FastAPI()
    context = by(database, ANONYMOUS, items=catalog)
    app.include_router(api.build(ACTIONS, context))
    site = RenderContext()
    made = account_pages(site)
    app.include_router(pages.build(context, made, not_found=partial(not_found_page, site)))
    for asset in assets().values():
        app.add_api_route(asset.url, _reply(asset.body.encodings["identity"], asset.body.media_type))
    app.add_api_route("/explore/{key}/image", _reply(_PICTURE, "image/svg+xml"))

    @app.exception_handler(AuthError)
    async def refused(_: object, error: AuthError) -> Response:
        return refusal(error)

    return LanguageMiddleware(signed_in_by_header(app))


def _reply(content: bytes, media_type: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=media_type)


_PICTURE = b"""<svg xmlns="http://www.w3.org/2000/svg" width="480" height="320">
<rect width="480" height="320" fill="#cfd6dd"/><circle cx="180" cy="170" r="70" fill="#b3541e"/></svg>"""
