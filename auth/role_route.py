"""FastAPI route classes that authorise before they read the body: unauthorised callers learn nothing about the
schema and cannot make the service parse large JSON. The number of parts of a body is limited, since parsing blocks
the event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from auth.csrf import SAFE_METHODS
from auth.middleware import identity_of
from auth.model import AuthError, Role, require
from vlrb.common.messages import _

RouteHandler = Callable[[Request], Coroutine[Any, Any, Response]]
MOST_PARTS = 10_000  # commas and brackets of a body: half a million wrong values take 20 seconds to refuse, these 0.1


class TooManyParts(AuthError):
    """More values than any request of the API needs."""

    status, code = 413, "too-many-parts"


def require_role(role: Role | None, handler: RouteHandler, *, instead: Role | None = None) -> RouteHandler:
    """Return the handler behind `require`, which lets people with the role `instead` in, too; with None for everybody.

    It raises Unauthenticated, Forbidden and TooManyParts.
    """
    if role is None:
        return handler

    async def handle(request: Request) -> Response:
        user = identity_of(request)
        if instead is None or instead not in user.roles:
            require(user, role)
        if request.method not in SAFE_METHODS:
            _look(await _body(request))
        return await handler(request)

    return handle


async def _body(request: Request) -> bytes:
    try:
        return await request.body()  # the request keeps it for the next caller
    except ClientDisconnect:
        raise HTTPException(400, _("The request ended before its body was complete.")) from None


def _look(body: bytes) -> None:
    if sum(map(body.count, (b",", b"[", b"{"))) > MOST_PARTS:
        raise TooManyParts(_("The request has more than {most:,} values.", most=MOST_PARTS))


class RoleRoute(APIRoute):
    """A route for people with an account."""

    def get_route_handler(self) -> RouteHandler:
        """Return the handler behind the question."""
        return require_role(Role.SUBMITTER, super().get_route_handler())
