"""Headers that every answer carries, whoever made it: own pages have theirs already, Gradio's get them here."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.replies import SECURITY

FRAMES = "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
# Gradio's pages begin with inline scripts, compile the templates of gr.HTML and set styles as they draw; Plotly makes
# pictures as blob: and data:. Nothing of them comes from, or goes to, another host.
GRADIO = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'none'; worker-src 'none'; object-src 'none'; frame-src 'none'; "
    f"base-uri 'self'; form-action 'self'; {FRAMES}"
)
# What is no page: nothing in it is ever to be run or framed.
NO_PAGE = "default-src 'none'; frame-ancestors 'none'"


class SecureHeaders:
    """An application whose every answer says what browsers may do with it. What a route says itself stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _usual(scope["path"], message["status"], headers).items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sending)


def _usual(path: str, status: int, headers: MutableHeaders) -> Mapping[str, str]:
    if status == 304:  # what is in the cache keeps its own
        return {}
    kind, gradio = headers.get("content-type", ""), path.startswith("/app")
    page = kind.startswith("text/html")
    policy = NO_PAGE if not page else GRADIO if gradio else SECURITY["Content-Security-Policy"]
    # Gradio's pages and their description of themselves name the address that was asked, and who is asking.
    fresh = {"Cache-Control": "no-store"} if gradio and (page or kind.startswith("application/json")) else {}
    return {**SECURITY, "Content-Security-Policy": policy, **fresh}
