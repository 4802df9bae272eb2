"""Replacement of problem+json responses, or of another kind, which are held back until whole. Plain ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Message, Send

from auth.problem_details import MEDIA_TYPE

ResponseHeaders = list[tuple[bytes, bytes]]
_LONG = 8192  # bytes of a response that are replaced in a thread
Replace = Callable[[Message, bytes], tuple[ResponseHeaders, bytes]]
"""Takes the start of a response and its body, and returns the headers and the body to send instead."""


def replacing_problems(send: Send, replace: Replace, *, also: str = MEDIA_TYPE) -> Send:
    """Return what sends a problem, or what is `also` of a media type, as `replace` makes it; all other responses go
    through as they are."""
    kinds = (MEDIA_TYPE.encode(), also.encode())
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start" and _is_of(kinds, message):
            start = message
        elif start is None:
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


def _is_of(kinds: tuple[bytes, ...], start: Message) -> bool:
    headers = dict(start["headers"])
    return headers.get(b"content-type", b"").startswith(kinds) and b"content-encoding" not in headers
