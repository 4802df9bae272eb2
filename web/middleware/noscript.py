"""Additions to Gradio's pages: a message for browsers without JavaScript, and a title for each page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SENTENCE = (
    b'<noscript><p style="font: 15px/1.5 system-ui, sans-serif; margin: 40px 24px; max-width: 68ch">'
    b'This page needs JavaScript. <a style="color: inherit" href="/">The board</a> and the other public pages work '
    b'without it; <a style="color: inherit" href="/about#predictions">files are checked</a> and submitted from a '
    b'command line, too. <a style="color: inherit" href="/docs">All of it over HTTP</a></p></noscript>'
)


class NoscriptMiddleware:
    """An application whose pages begin with a sentence for those who see nothing else of them.

    ``titles``: of pages, by the end of their path; Gradio gives all of them the one title ``brand``.
    """

    def __init__(self, app: ASGIApp, brand: str = "", titles: Mapping[str, str] = MappingProxyType({})) -> None:
        self._app, self._brand, self._titles = app, brand, titles

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        start: Message | None = None
        body = b""

        async def sending(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_page(message):
                start = message  # its length is known when the page is there
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = insert_title(insert_noscript(body), self._brand, self._title(scope["path"]))
                    MutableHeaders(scope=start)["content-length"] = str(len(page))
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        await self._app(scope, receive, sending if scope["type"] == "http" and scope["method"] == "GET" else send)

    def _title(self, path: str) -> str:
        return self._titles.get(path.rstrip("/").rpartition("/")[2], "")


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(scope=start)
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers


def insert_noscript(page: bytes) -> bytes:
    """Return a page whose body begins with the sentence; what has no body stays as it is."""
    begin = page.find(b"<body")
    end = page.find(b">", begin)
    return page if begin < 0 or end < 0 else page[: end + 1] + _SENTENCE + page[end + 1 :]


def insert_title(page: bytes, brand: str, title: str) -> bytes:
    """Return a page with its own title before the brand, where Gradio's settings have the brand alone."""
    if not title:
        return page
    before, after = (f'"title":{json.dumps(text)}'.encode() for text in (brand, f"{title} · {brand} leaderboard"))
    return page.replace(before, after, 1)
