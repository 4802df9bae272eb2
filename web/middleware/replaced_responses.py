"""Replacement of responses of some media types, which are held back until whole. Plain ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ResponseHeaders = list[tuple[bytes, bytes]]
_LONG = 8192  # bytes of a response that are replaced in a thread
Replace = Callable[[Message, bytes], tuple[ResponseHeaders, bytes]]
"""Takes the start of a response and its body, and returns the headers and the body to send instead."""
Rewrite = Callable[[Scope, bytes], bytes]
"""(connection, page) -> the page as it is sent."""


def replacing(send: Send, replace: Replace, *, kinds: tuple[str, ...]) -> Send:
    """Return what sends responses of these media types as `replace` makes them; all others go through as they are."""
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start" and _is_of(kinds, message):
            start = message
        elif start is None or message["type"] != "http.response.body":
            await send(message)
        else:
            body += message.get("body", b"")
            if not message.get("more_body", False):
                # Hundreds of sentences take a tenth of a second, in which everybody else would wait.
                thread = len(body) > _LONG
                headers, replaced = await asyncio.to_thread(replace, start, body) if thread else replace(start, body)
                await send({**start, "headers": headers})
                await send({"type": "http.response.body", "body": replaced})

    return sending


def _is_of(kinds: tuple[str, ...], start: Message) -> bool:
    headers = dict(start["headers"])
    kind = headers.get(b"content-type", b"").decode("latin-1")
    return kind.startswith(kinds) and b"content-encoding" not in headers


class HtmlPagesMiddleware:
    """An application whose HTML pages pass through a function; everything else stays as it is."""

    def __init__(self, app: ASGIApp, rewrite: Rewrite) -> None:
        self._app, self._rewrite = app, rewrite

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        def rewritten(start: Message, body: bytes) -> tuple[ResponseHeaders, bytes]:
            page = self._rewrite(scope, body)
            kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            return [*kept, (b"content-length", str(len(page)).encode())], page

        if scope["type"] == "http" and scope["method"] == "GET":
            send = replacing(send, rewritten, kinds=("text/html",))
        await self._app(scope, receive, send)
