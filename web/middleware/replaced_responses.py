"""Replacement of responses of some media types, which are held back until whole. Plain ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Message, Send

ResponseHeaders = list[tuple[bytes, bytes]]
_LONG = 8192  # bytes of a response that are replaced in a thread
Replace = Callable[[Message, bytes], tuple[ResponseHeaders, bytes]]
"""Takes the start of a response and its body, and returns the headers and the body to send instead; the length of a
body is told here."""


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
                headers = [(name, value) for name, value in headers if name != b"content-length"]
                length = [(b"content-length", str(len(replaced)).encode())] if replaced else []
                await send({**start, "headers": [*headers, *length]})
                await send({"type": "http.response.body", "body": replaced})

    return sending


def _is_of(kinds: tuple[str, ...], start: Message) -> bool:
    headers = dict(start["headers"])
    kind = headers.get(b"content-type", b"").decode("latin-1")
    return kind.startswith(kinds) and b"content-encoding" not in headers
