"""Replacement of responses of a media type, which are held back until whole. Plain ASGI."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Message, Send

ResponseHeaders = list[tuple[bytes, bytes]]
Replace = Callable[[Message, bytes], tuple[ResponseHeaders, bytes]]
"""Takes the start of a response and its body, and returns the headers and the body to send instead; the length of a
body is told here."""


def replacing(send: Send, replace: Replace, *, kind: str) -> Send:
    """Return what sends responses of a media type as `replace` makes them; all others go through as they are."""
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start" and _is_of(kind, message):
            start = message
        elif start is None or message["type"] != "http.response.body":
            await send(message)
        else:
            body += message.get("body", b"")
            if not message.get("more_body", False):
                headers, replaced = replace(start, body)
                headers = [(name, value) for name, value in headers if name != b"content-length"]
                length = [(b"content-length", str(len(replaced)).encode())] if replaced else []
                await send({**start, "headers": [*headers, *length]})
                await send({"type": "http.response.body", "body": replaced})

    return sending


def _is_of(kind: str, start: Message) -> bool:
    headers = dict(start["headers"])
    return headers.get(b"content-type", b"").startswith(kind.encode()) and b"content-encoding" not in headers
