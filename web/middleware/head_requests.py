"""HEAD below /api/: answered as GET; the server leaves the body out."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadMiddleware:
    """ASGI: asks for the head of what the API sends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"].startswith("/api/"):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)
