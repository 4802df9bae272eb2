"""Replacement of problem+json responses, which are held back until they are whole. Plain ASGI."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Message, Send

from auth.problem_details import MEDIA_TYPE

ResponseHeaders = list[tuple[bytes, bytes]]
Replace = Callable[[Message, bytes], tuple[ResponseHeaders, bytes]]
"""Takes the start of a response and its body, and returns the headers and the body to send instead."""


def replacing_problems(send: Send, replace: Replace) -> Send:
    """Return what sends a problem as `replace` makes it; all other responses go through as they are."""
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start" and _is_problem(message):
            start = message
        elif start is None:
            await send(message)
        else:
            body += message.get("body", b"")
            if not message.get("more_body", False):
                headers, replaced = replace(start, body)
                await send({**start, "headers": headers})
                await send({"type": "http.response.body", "body": replaced})

    return sending


def _is_problem(start: Message) -> bool:
    headers = dict(start["headers"])
    return headers.get(b"content-type", b"").startswith(MEDIA_TYPE.encode()) and b"content-encoding" not in headers
