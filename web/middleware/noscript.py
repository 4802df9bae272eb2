"""Additions to Gradio's pages: a message for browsers without JavaScript, and a title for each page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.messages import _
from common.translations import ENGLISH, Translations, translations

_SENTENCE = _(
    "This page needs JavaScript. <a {style} href='/'>The board</a> and the other public pages work without it; "
    "<a {style} href='/about#predictions'>files are checked</a> and submitted from a command line, too. "
    "<a {style} href='/docs'>All of it over HTTP</a>",
    style="style='color: inherit'",
)
_STYLE = "font: 15px/1.5 system-ui, sans-serif; margin: 40px 24px; max-width: 68ch"

_TITLES: Mapping[str, str] = MappingProxyType(
    {"submit": _("Submit predictions"), "analyse": _("Analyse"), "maintain": _("Maintain"), "app": _("Board")}
)
"""Of pages, by the end of their path."""


class NoscriptMiddleware:
    """An application whose pages begin with a sentence for those who see nothing else of them, and name their
    language and what they are. ``brand``: the one title that Gradio gives all of them."""

    def __init__(self, app: ASGIApp, language: str = ENGLISH, brand: str = "") -> None:
        self._app, self._translations, self._brand = app, translations(language), brand

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
                    page = insert_noscript(body, self._translations)
                    page = insert_title(page, self._brand, self._title(scope["path"]))
                    MutableHeaders(scope=start)["content-length"] = str(len(page))
                    await send(start)
                    await send({"type": "http.response.body", "body": page})

        await self._app(scope, receive, sending if scope["type"] == "http" and scope["method"] == "GET" else send)

    def _title(self, path: str) -> str:
        return self._translations.text(_TITLES.get(path.rstrip("/").rpartition("/")[2], ""))


def _is_page(start: Message) -> bool:
    headers = MutableHeaders(scope=start)
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers


def insert_noscript(page: bytes, of: Translations | None = None) -> bytes:
    """Return a page whose body begins with the sentence; what has no body stays as it is."""
    of = of or translations(ENGLISH)
    page = page.replace(b'lang="en"', f'lang="{of.language}"'.encode(), 1)
    begin = page.find(b"<body")
    end = page.find(b">", begin)
    return page if begin < 0 or end < 0 else page[: end + 1] + _element(of) + page[end + 1 :]


def _element(of: Translations) -> bytes:
    return f'<noscript><p style="{_STYLE}">{of.text(_SENTENCE)}</p></noscript>'.encode()


def insert_title(page: bytes, brand: str, title: str) -> bytes:
    """Return a page with its own title before the brand, where Gradio's settings have the brand alone."""
    if not title:
        return page
    before, after = (f'"title":{json.dumps(text)}'.encode() for text in (brand, f"{title} · {brand}"))
    return page.replace(before, after, 1)
