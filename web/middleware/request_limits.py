"""Request limits before routing: size, speed and content encoding, and the end of a request whose client has left.

Plain ASGI, around the whole application, so that it holds for the REST routes and for Gradio's own upload route alike.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from anyio import CancelScope
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.csrf import SAFE_METHODS
from auth.limits.rate_limit import address_of
from auth.limits.request_classes import is_upload
from auth.problem_details import problem_body, problem_response
from leaderboard.site.serial_executor import CLIENT
from operation.alarms import KEPT_FREE
from vlrb.common.file_limit import too_large
from vlrb.common.messages import _

OVERHEAD = 1 << 20  # bytes that a form may have beside the file
MOST_BYTES = 1 << 20  # of a body without a file: JSON and forms are read as a whole, and everybody else waits meanwhile
_PATIENCE, _SLOWEST = 30.0, 16_384  # seconds that any body gets, and bytes per second beyond that
_LINGER = 2.0  # seconds for which a body is still taken off the wire, unread, after it was refused


class RequestLimitsMiddleware:
    """The application behind a limit on bodies, encodings and dawdling."""

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        *,
        patience: float = _PATIENCE,
        free: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """`free`: how many bytes the disk still takes."""
        self._app, self._limit, self._patience, self._free = app, limit + OVERHEAD, patience, free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and "\x00" in scope["path"]:  # no name holds one, and no database takes it
            refused = problem_body(400, "bad-address", detail=_("The address holds a NUL."))
            await _answer(send, refused, unread=None)
            return
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        file, headers = is_upload(scope), Headers(scope=scope)
        limit = self._limit if file else MOST_BYTES
        body = LimitedBody(receive, limit, patience=self._patience, unread=self._limit)
        if refusal := self._look(headers, limit, file=file):
            if refusal["status"] != HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                await body.discard()
            # Who asks first whether to send the body at all does not send it now.
            await _answer(send, refusal, unread=None if "expect" in headers else body)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if not started:
                await body.discard()
            if body.refusal is None or started:
                started = True
                await send(message)

        try:
            await self._app(scope, body.receive, sending)
        except Exception:  # the application met the end of the body that it was shown
            if body.refusal is None:
                raise
        if body.refusal is not None and not started:
            await _answer(send, body.refusal, unread=body)

    def _look(self, headers: Mapping[str, str], limit: int, *, file: bool) -> dict[str, Any] | None:
        if headers.get("content-encoding", "identity") != "identity":
            return problem_body(415, "compressed", detail=_("Send the file as it is, without Content-Encoding."))
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > limit:
            return _too_large(limit)
        size = limit if "transfer-encoding" in headers else int(length) if length.isdecimal() else 0
        if file and self._free() - size < KEPT_FREE:
            return problem_body(
                507, "no-room", detail=_("This service has no room for uploads at the moment. Try again later.")
            )
        return None


class LimitedBody:
    """A request's body as it arrives. Once it is refused, the application sees a disconnect."""

    def __init__(self, receive: Receive, limit: int, *, patience: float, unread: int) -> None:
        """`unread`: how many bytes of it are thrown away at most once it is refused."""
        self._receive, self._limit, self._patience, self._unread = receive, limit, patience, unread
        self._start, self._seen, self.complete = time.monotonic(), 0, False
        self.refusal: dict[str, Any] | None = None

    async def receive(self) -> Message:
        """Return the next part."""
        if self.refusal is not None:
            return {"type": "http.disconnect"}
        if self.complete:  # from here on it only waits for the client to go away
            return await self._receive()
        left = self._patience + self._seen / _SLOWEST - (time.monotonic() - self._start)
        try:
            message = await asyncio.wait_for(self._receive(), max(left, 0.001))
        except TimeoutError:
            return self._refuse(problem_body(408, "too-slow", detail=_("The upload took too long. Try again.")))
        self._seen += len(message.get("body", b""))
        self.complete = message["type"] != "http.request" or not message.get("more_body", False)
        return self._refuse(_too_large(self._limit)) if self._seen > self._limit else message

    async def discard(self) -> None:
        """Let a client that was answered early finish: one that is still sending would see a reset, not the answer."""
        while not self.complete and self.refusal is None:
            await self.receive()

    async def discard_late(self) -> None:
        """Throw away what is on its way, for a while and as much as a file may have: closing at once would reset the
        connection, and a client that is still sending would never see the answer."""
        seen = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                while not self.complete and seen <= self._unread:
                    message = await self._receive()
                    seen += len(message.get("body", b""))
                    self.complete = message["type"] != "http.request" or not message.get("more_body", False)

    def _refuse(self, refusal: dict[str, Any]) -> Message:
        self.refusal = refusal
        return {"type": "http.disconnect"}


def _too_large(limit: int) -> dict[str, Any]:
    if limit == MOST_BYTES:
        most = f"{MOST_BYTES / 2**20:g} MB"
        text = _("The request is larger than the {most} that it may have without a file.", most=most)
        return problem_body(413, "too-large", detail=text)
    return problem_body(413, "too-large", detail=too_large(limit - OVERHEAD))


async def _answer(send: Send, refused: dict[str, Any], *, unread: LimitedBody | None) -> None:
    """Send the whole answer; then the connection stays open while the client finishes sending."""
    answer = problem_response(refused, {"Connection": "close"})  # what is still on its way is not read
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    if unread is not None:
        await unread.discard_late()
    await send({"type": "http.response.body", "body": b""})


class LeftClientsMiddleware:
    """The application, where reading requests end when their client leaves before it is answered, and the queues of
    renders know whose request it is. Gradio's own routes look for themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        CLIENT.set(address_of(scope))
        if scope["type"] != "http" or scope["method"] not in SAFE_METHODS or scope["path"].startswith("/app"):
            await self._app(scope, receive, send)
            return
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
