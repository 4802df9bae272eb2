"""Routes that ask who it is before they read what was sent: who may not use one is not told what it takes. And what
they read has few parts: as long as JSON is read and checked, nobody else is served."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from identity.middleware import identity_of
from identity.origins import SAFE_METHODS
from identity.values import Refused, Role, require

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
MOST_PARTS = 10_000  # commas and brackets of a body: half a million wrong values take 20 seconds to refuse, these 0.1


class TooManyParts(Refused):
    """More values than any request of the API needs."""

    status, code = 413, "too-many-parts"


def for_role(role: Role | None, handler: Handler, instead: Role | None = None) -> Handler:
    """The handler behind `require`, which lets people with the role `instead` in, too; with None for everybody.

    It raises NotSignedIn, NotAllowed and TooManyParts.
    """
    if role is None:
        return handler

    async def handle(request: Request) -> Response:
        who = identity_of(request)
        if instead is None or instead not in who.roles:
            require(who, role)
        if request.method not in SAFE_METHODS:
            _look(await _body(request))
        return await handler(request)

    return handle


async def _body(request: Request) -> bytes:
    try:
        return await request.body()  # the request keeps it for whoever asks next
    except ClientDisconnect:
        raise HTTPException(400, "The request ended before its body was complete.") from None


def _look(body: bytes) -> None:
    if sum(map(body.count, (b",", b"[", b"{"))) > MOST_PARTS:
        raise TooManyParts(f"The request has more than {MOST_PARTS:,} values.")


class SubmittersRoute(APIRoute):
    """A route for people with an account."""

    def get_route_handler(self) -> Handler:
        """The handler behind the question."""
        return for_role(Role.SUBMITTER, super().get_route_handler())
