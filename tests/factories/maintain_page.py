"""The maintain page without a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from auth import AuthError
from auth.problem_details import refusal
from leaderboard.site.render import account_pages
from leaderboard.site.render_context import RenderContext
from maintenance import pages as routes
from maintenance.action_context import ActionContext
from maintenance.registry import ActionRegistry
from maintenance.sections import SECTIONS
from web.actions import ACTIONS

_NOTICE = re.compile(r'<p class="notice[^>]*>(.*?)</p>', re.S)


class MaintainVisitor:
    """Somebody who looks at the maintain page and sends its forms."""

    def __init__(self, ctx: ActionContext, registry: ActionRegistry = ACTIONS) -> None:
        app = FastAPI()
        app.add_exception_handler(AuthError, lambda request, error: refusal(error))  # type: ignore[arg-type]
        pages = account_pages(RenderContext())
        page = routes.MaintainPage(registry, ctx, pages)
        app.include_router(routes.build(page))

        @app.middleware("http")
        async def sign_in(request: Request, call_next: Any) -> Any:
            request.state.identity = ctx.user
            return await call_next(request)

        self.http = TestClient(app)

    def look(self, tab: str, **query: str) -> str:
        """Return a section."""
        return self.http.get(routes.PATH, params={"tab": tab, **query}).text

    def show(self, tab: str, action: str, key: str) -> str:
        """Return a section that shows one row."""
        return self.look(tab, show=action, on=key)

    def form(self, action: str, *keys: str) -> str:
        """Return the form of an action about rows."""
        return self.http.get(routes.PATH, params=[("do", action), *(("on", key) for key in keys)]).text

    def act(self, action: str, keys: Sequence[str] = (), *, upload: bytes = b"", **typed: str) -> str:
        """Send the form of an action about rows; returns what is said of it."""
        return " ".join(unescape(text) for text in _NOTICE.findall(self.send(action, keys, upload=upload, **typed)))

    def send(self, action: str, keys: Sequence[str] = (), *, upload: bytes = b"", **typed: str) -> str:
        """Send the form of an action about rows; returns the page."""
        tab = next((one.id for one in SECTIONS if action.partition(".")[0] in one.areas), "")
        data: dict[str, Any] = {"do": action, "tab": tab, "on": list(keys), **typed}
        return self.http.post(routes.PATH, data=data, files={"content": upload} if upload else None).text
