"""ASGI middleware: reject cross-site changes, and attach the authenticated identity to every request.

Plain ASGI. REST routes read `request.state.identity`, Gradio handlers `request.request.state.identity` (gr.Request):
the same value, put there once. What a client claims about itself in other headers or in the URL is not looked at.
"""

from __future__ import annotations

import logging

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from auth import queries
from auth.authenticator import Authenticator
from auth.csrf import SAFE_METHODS, is_cross_site, is_not_loopback
from auth.model import ANONYMOUS, AuthError, Identity
from auth.problem_details import DATABASE_RETRY_SECONDS, refusal
from auth.settings import IdentitySettings, Mode
from vlrb.common.messages import _

log = logging.getLogger(__name__)

# Same for everybody: nobody needs to be looked up for them.
IMPERSONAL = ("/static/", "/healthz", "/readyz", "/metrics")


class _Stop(AuthError):
    """Refused before any handler; status and code are the instance's."""

    def __init__(self, code: str, detail: str, *, status: int = 403, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.retry_after = status, code, retry_after


class IdentityMiddleware:
    """The application behind the check of origins, with the identity of each request in its state."""

    def __init__(self, app: ASGIApp, settings: IdentitySettings, *, resolver: Authenticator) -> None:
        self._app, self._settings, self._resolver = app, settings, resolver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            cookie = session_cookie(scope, self._settings)
            self._check_sender(scope, bool(cookie))
            scope.setdefault("state", {})["identity"] = await self._identify(scope, cookie)
        except AuthError as refused:
            log.info("request.refused", extra={"data": {"status": refused.status, "code": refused.code}})
            await refusal(refused)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_sender(self, scope: Scope, cookie: bool) -> None:
        local = self._settings.mode is Mode.LOCAL
        safe = scope["method"] in SAFE_METHODS
        if safe and not local:
            return
        headers = Headers(scope=scope)
        if local and (reason := is_not_loopback(headers)):
            raise _Stop("not-local", reason)
        if safe:
            return
        own = self._settings.public_url if self._settings.mode is Mode.OPENID else None
        if reason := is_cross_site(headers, own, cookie=cookie):
            raise _Stop("other-site", reason)

    async def _identify(self, scope: Scope, cookie: str) -> Identity:
        if self._settings.mode is not Mode.OPENID:
            return self._resolver.anonymous()
        token = bearer(scope)
        if scope["path"].startswith(IMPERSONAL) or not (token or cookie):
            return ANONYMOUS
        try:
            if token is not None:
                known = await to_thread.run_sync(self._resolver.from_token, token)
                if known is not None:
                    return known
            return await to_thread.run_sync(self._resolver.from_session, cookie)
        except queries.SQLAlchemyError as error:
            log.error("identity.unreadable", extra={"data": {"reason": type(error).__name__}})
            if token is None and scope.get("method") in SAFE_METHODS:
                return ANONYMOUS  # public pages stay readable
            detail = _("The database does not answer. Try again in a moment.")
            raise _Stop("database-offline", detail, status=503, retry_after=DATABASE_RETRY_SECONDS) from None


def from_here(scope: Scope) -> bool:
    """Return whether a request is from this machine, where being on it is all that is asked for (local mode)."""
    return is_not_loopback(Headers(scope=scope)) is None


def session_cookie(scope: Scope, settings: IdentitySettings) -> str:
    """Return the session cookie's value; "" without one."""
    return read_cookie(scope, settings.session_cookie)


def read_cookie(scope: Scope, name: str) -> str:
    """Return a cookie's value; "" if it is missing or was sent twice with different values (then somebody planted
    one)."""
    result = set()
    for header in Headers(scope=scope).getlist("cookie"):
        for part in header.split(";"):
            result |= {value for key, value in cookie_parser(part).items() if key == name}
    return result.pop() if len(result) == 1 else ""


def bearer(scope: Scope) -> str | None:
    """Return the token in the Authorization header; None without one. Tokens elsewhere, in the URL above all, do not
    count."""
    values = Headers(scope=scope).getlist("authorization")
    if len(values) != 1:
        return None
    kind, _, token = values[0].partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def client_address(scope: Scope) -> str:
    """Return the client's address. Behind a trusted proxy the server has replaced it with the forwarded one."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def identity_of(connection: HTTPConnection | None) -> Identity:
    """Return the identity of a request, for a route (`request`) or a Gradio handler (`request.request`).

    Raises:
        RuntimeError: the middleware is missing, or there is no request: never fail open.
    """
    identity = getattr(connection.state, "identity", None) if connection is not None else None
    if not isinstance(identity, Identity):
        raise RuntimeError("IdentityMiddleware is not installed around this application")
    return identity
