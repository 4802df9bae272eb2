"""Headers that every answer carries, anyone who made it: own pages have theirs already, Gradio's get them here. And
which other sites may frame what this site may frame, and the version of the interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.site.responses import SECURITY, security_headers

_POLICY = "Content-Security-Policy"
_POLICY_NAME = _POLICY.lower().encode()
_OWN_HEADERS = {name.lower().encode() for name in SECURITY}  # by our own pages
_OWN_FRAMES = "frame-ancestors 'self'"
# Gradio's pages begin with inline scripts, compile the templates of gr.HTML and set styles as they draw; its pictures
# are blob: and data:. Nothing of them comes from, or goes to, another host.
GRADIO = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'none'; worker-src 'none'; object-src 'none'; frame-src 'none'; "
    f"base-uri 'self'; form-action 'self'; {_OWN_FRAMES}"
)
# What is no page: nothing in it is ever to be run or framed.
NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
_VERSION = (b"api-version", b"1")  # of the REST interface
_HTTPS_FROM_NOW_ON = (b"strict-transport-security", b"max-age=31536000")


class SecurityHeadersMiddleware:
    """An application whose every answer says what browsers may do with it. What a route says itself stays.

    `frames`: origins in whose frames its pages may stand beside their own; those that stand in none, or in any, do not
    change. `https`: whether browsers come over https, whatever the last proxy speaks.
    """

    def __init__(self, app: ASGIApp, frames: Sequence[str] = (), *, https: bool = False) -> None:
        self._app, self._frames, self._https = app, " ".join(("", *frames)).encode(), https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = dict(message)  # the board's is made once, for everybody
                if scope["path"].startswith("/api/"):
                    message["headers"] = [*message["headers"], _VERSION]
                if not {name for name, _ in message["headers"]} >= _OWN_HEADERS:
                    headers = MutableHeaders(scope=message)
                    for name, value in _default_headers(scope["path"], message["status"], headers=headers).items():
                        headers.setdefault(name, value)
                if self._frames:
                    message["headers"] = [(name, self._framed(name, value)) for name, value in message["headers"]]
                if self._https or scope["scheme"] == "https":
                    message["headers"] = [*message["headers"], _HTTPS_FROM_NOW_ON]
            await send(message)

        await self._app(scope, receive, sending)

    def _framed(self, name: bytes, value: bytes) -> bytes:
        return value + self._frames if name == _POLICY_NAME and value.endswith(_OWN_FRAMES.encode()) else value


def _default_headers(path: str, status: int, *, headers: MutableHeaders) -> Mapping[str, str]:
    if status == 304:  # what is in the cache keeps its own
        return {}
    kind, gradio = headers.get("content-type", ""), path.startswith("/app")
    if _POLICY not in (security := security_headers(kind)):
        return security
    page = kind.startswith("text/html")
    policy = NO_PAGE if not page else GRADIO if gradio else SECURITY[_POLICY]
    # Gradio's pages and their description of themselves name the address that was asked, and who is asking.
    fresh = {"Cache-Control": "no-store"} if gradio and (page or kind.startswith("application/json")) else {}
    return {**SECURITY, _POLICY: policy, **fresh}
