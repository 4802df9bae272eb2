"""Rewriting of the HTML pages that an application answers with. Plain ASGI."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Rewrite = Callable[[Scope, bytes], bytes]
"""(connection, page) -> the page as it is sent."""


class HtmlPagesMiddleware:
    """An application whose HTML pages pass through a function; everything else stays as it is."""

    def __init__(self, app: ASGIApp, rewrite: Rewrite) -> None:
        self._app, self._rewrite = app, rewrite

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        start: Message | None = None
        body = b""

        async def sending(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_page(message):
                start = message  # its length is known when the page is there
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = self._rewrite(scope, body)
                    MutableHeaders(scope=start)["content-length"] = str(len(page))
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        await self._app(scope, receive, sending if scope["type"] == "http" and scope["method"] == "GET" else send)


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(scope=start)
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers
