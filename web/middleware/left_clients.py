"""Requests whose client has left: what they wait for is dropped. Plain ASGI."""

from __future__ import annotations

import asyncio

from anyio import CancelScope
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.csrf import SAFE_METHODS
from auth.limits.rate_limit import address_of
from leaderboard.serial_executor import CLIENT


class LeftClientsMiddleware:
    """The application, where reading requests end when their client leaves before it is answered, and the queues of
    renders know whose request it is. Gradio's own routes look for themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] not in SAFE_METHODS or scope["path"].startswith("/app"):
            await self._app(scope, receive, send)
            return
        CLIENT.set(address_of(scope))
        with CancelScope() as work:
            watching = asyncio.create_task(_cancel_if_left(receive, work))

            async def sending(message: Message) -> None:
                watching.cancel()  # a server reports the end of a response as a disconnect too
                await send(message)

            try:
                await self._app(scope, receive, sending)
            finally:
                watching.cancel()


async def _cancel_if_left(receive: Receive, work: CancelScope) -> None:
    message = await receive()
    while message["type"] == "http.request" and not message.get("more_body"):
        message = await receive()
    if message["type"] == "http.disconnect":
        work.cancel()
