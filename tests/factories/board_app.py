"""Applications with the pages and the API of one board, and nothing else of the service."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import FastAPI

from leaderboard.board import api, pages
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.site.cache import BoardCache
from leaderboard.site.pages import error_reply
from leaderboard.site.render_context import RenderContext
from tests.factories.snapshots import FixedSource


def board_app(cache: BoardCache, catalog: ItemCatalog | None = None, **options: Any) -> FastAPI:
    """Return the board of a cache; `options`: those of its pages."""
    app, catalog = FastAPI(docs_url=None), catalog or ItemCatalog(spec=cache.spec)
    app.include_router(pages.build(cache, catalog, **options))
    app.include_router(api.build(cache, catalog))
    app.add_exception_handler(404, partial(error_reply, RenderContext(), "not-found"))
    return app


def serve(source: FixedSource, **options: Any) -> FastAPI:
    """Return the board of a source behind its fast path; `options`: those of its cache."""
    cache = BoardCache(source, warm=pages.front_page, check_every=0.0, **options)
    app = board_app(cache)
    app.add_middleware(pages.BoardFastPathMiddleware, cache=cache)
    return app
