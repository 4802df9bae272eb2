"""Allowlist of Gradio's routes and calls. Plain ASGI, without importing Gradio.

Gradio serves much that no page of ours uses: it fetches addresses, records, edits and monitors. And wherever a call has
a value it takes the path of any file of this machine for an upload, and hands out a copy. So only the routes that pages
and clients need are allowed, and a call may only name files that were uploaded here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.problem_details import problem
from leaderboard.site.render import render
from leaderboard.site.render_context import LANGUAGE, RenderContext
from vlrb.common.translations import ENGLISH

MOST_BYTES = 256 << 10  # of a call: fields hold a few kB, files come by upload, and Gradio keeps a session's values
_PAGES = ("/submit",)
_API = "/gradio_api/"
_READ = frozenset(
    {"/config", "/theme.css", "/favicon.ico", "/robots.txt", "/manifest.json", "/pwa_icon", *_PAGES}
    | {f"{_API}{name}" for name in ("info", "app_id", "startup-events", "theme.css", "upload_progress")}
    | {f"{_API}{name}" for name in ("queue/data", "queue/status")}
)
_READ_BELOW = ("/assets/", "/static/", "/svelte/", f"{_API}heartbeat/")
_FILE, _UPLOAD = f"{_API}file=", f"{_API}upload"
_CALLS = frozenset(f"{_API}{name}" for name in ("queue/join", "run/predict", "cancel", "reset"))
_KEY = re.compile("[0-9a-f]{64}")
_SAYS_WHERE = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
_SESSION = re.compile("[0-9A-Za-z_-]{1,64}")  # Gradio keeps it for as long as nobody fetches the answer


class GradioAllowlistMiddleware:
    """In front of Gradio, which takes seconds to import and 100 MB: it is loaded when somebody first asks for its page,
    and until it is there visitors get one that comes back by itself.

    `uploads`: the directory of what was uploaded, as `uploads/<SHA-256>/<name>`.
    `public_url`: what Gradio takes for its own address whatever was asked; "" where it is known from requests alone.
    """

    def __init__(self, uploads: Path, public_url: str = "") -> None:
        self._uploads, self._public = str(uploads), urlsplit(public_url)
        self._apps: dict[str, ASGIApp] = {}
        self._functions: Collection[int] = ()
        self.asked = asyncio.Event()  # whether somebody has asked for the page

    def attach(self, app: ASGIApp, functions: Collection[int], *, language: str = ENGLISH) -> None:
        """Send requests in a language to `app` from now on; its functions have these numbers in every language."""
        self._apps[language], self._functions = app, functions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises HTTPException where there is nothing."""
        if scope["type"] != "http":
            return  # Gradio has no WebSocket
        path = scope["path"].removeprefix("/app")
        named = path.removeprefix(_FILE) if path.startswith(_FILE) else None
        if not (is_allowed(scope["method"], path) if named is None else self._is_uploaded_file(named)):
            raise HTTPException(404)
        language = LANGUAGE.get()
        app = self._apps.get(language)
        if app is None:
            self.asked.set()
            page = render(RenderContext().in_language(language), "gradio/starting.html")
            await HTMLResponse(page, 503, {"Retry-After": "2"})(scope, receive, send)
            return
        if scope["method"] == "POST" and path != _UPLOAD:
            try:
                body = await Request(scope, receive).body()
            except ClientDisconnect:
                return
            if (refused := self._refusal(body)) is not None:
                await refused(scope, receive, send)
                return
            receive = replay_body(body, receive)
        if self._public.netloc:
            ours = [(b"host", self._public.netloc.encode()), (b"x-forwarded-proto", self._public.scheme.encode())]
            others = [header for header in scope["headers"] if header[0] not in _SAYS_WHERE]
            scope = {**scope, "headers": ours + others}
        await app(scope, receive, send)

    def _refusal(self, body: bytes) -> Response | None:
        """Return why a call is refused, or None."""
        if len(body) > MOST_BYTES:
            return problem(
                413, "too-large", detail=f"A call has at most {MOST_BYTES >> 10} KiB. Files are uploaded first."
            )
        try:
            call = orjson.loads(body)
        except orjson.JSONDecodeError:
            call = None
        if not isinstance(call, dict) or not self._is_of_a_page(call):
            detail = "A call is a JSON object with the number of a function and a session of letters and digits."
            return problem(422, "invalid-call", detail=detail)
        if not all(map(self._is_uploaded_file, file_paths_in(call))):
            return problem(
                422, "not-uploaded", detail="A file in a call is one that was uploaded here within the last hour."
            )
        return None

    def _is_of_a_page(self, call: dict[str, Any]) -> bool:
        number, session = call.get("fn_index"), call.get("session_hash")
        known = number is None or (type(number) is int and number in self._functions)
        return known and (session is None or (isinstance(session, str) and _SESSION.fullmatch(session) is not None))

    def _is_uploaded_file(self, path: Any) -> bool:
        """Return whether this names a file that was uploaded, or made for a download; there or not."""
        if not isinstance(path, str) or "\0" in path:
            return False
        folder, _slash, name = path.rpartition("/")
        parent, _slash, key = folder.rpartition("/")
        return parent == self._uploads and _KEY.fullmatch(key) is not None and name not in ("", ".", "..")


def is_allowed(method: str, path: str) -> bool:
    """Return whether pages or clients need this of Gradio. `path`: below where it is mounted."""
    if method in ("GET", "HEAD"):
        return path in _READ or path.startswith(_READ_BELOW)
    return method == "POST" and (path == _UPLOAD or path in _CALLS)


def file_paths_in(value: Any) -> Iterator[Any]:
    """Return the paths of whatever Gradio could take for a file, however deep it lies; they may be of any type."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if "path" in item:
                yield item["path"]
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return what was read, to be read once more; then what comes after it."""
    whole: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> Message:
        return next(whole, None) or await receive()

    return next_message
