"""The Gradio page as it is served: what names the benchmark that was asked for, and what is there without a script.

Gradio lays the page out once, for the first benchmark. Its components stand in the page as JSON, which the browser
draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import orjson
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.site.render import FOOTER_ID, HEADER_ID, footer_markup, header_markup, render
from leaderboard.site.render_context import RenderContext
from submissions.submit.render import INTRODUCTION_ID, PAGE, introduction_html
from vlrb.common.messages import _
from web.benchmarks import requested_benchmark
from web.middleware.replaced_responses import ResponseHeaders, replacing
from web.services import Services

_HEAD = b"<head>"
_CONFIG, _END = b"window.gradio_config = ", b";</script>"
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}  # as Gradio writes JSON into a page


class GradioPagesMiddleware:
    """Gradio, whose page is that of the benchmark that a request is about."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._limit_mb = app, services.settings.upload_limit_bytes / 2**20
        self._contexts = {benchmark.id: benchmark.context for benchmark in services.benchmarks}
        self._first = services.first.context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "GET":
            send = replacing(send, partial(self._rewritten, scope), kind="text/html")
        await self._app(scope, receive, send)

    def _rewritten(self, scope: Scope, start: Message, page: bytes) -> tuple[ResponseHeaders, bytes]:
        context = self._contexts.get(requested_benchmark(Request(scope), tuple(self._contexts)), self._first)
        title, values = page_title(context), page_values(context, self._limit_mb)
        page = with_values(page, title, values=values, language=context.language)
        return start["headers"], with_noscript(page, context.language)


def page_title(context: RenderContext) -> str:
    """Return the title of the page."""
    texts = (_("Submit predictions"), _("{brand} leaderboard", brand=context.spec.brand))
    return " · ".join(context.translations.text(text) for text in texts)


def page_values(context: RenderContext, limit_mb: float) -> Mapping[str, str]:
    """Return the values of components that name the benchmark, by their element ids."""
    introduction = introduction_html(context.spec, limit_mb, prefix=context.prefix, of=context.translations)
    return {
        HEADER_ID: header_markup(context, PAGE),
        FOOTER_ID: footer_markup(context),
        INTRODUCTION_ID: introduction,
    }


def with_values(page: bytes, title: str, *, values: Mapping[str, str], language: str) -> bytes:
    """Return a page of Gradio with this title, language and these values; a page without components as it is."""
    before, begin, rest = page.partition(_CONFIG)
    written, end, after = rest.partition(_END)
    if not begin or not end:
        return page
    config = orjson.loads(written)
    config["title"] = title
    for component in config["components"]:
        properties = component["props"]
        if (value := values.get(properties.get("elem_id"))) is not None:
            properties["value"] = value
    start = render(RenderContext().in_language(language), "gradio/title.html", title=title).encode()
    return before.replace(_HEAD, _HEAD + start, 1) + begin + _as_script(config) + end + after


def with_noscript(page: bytes, language: str) -> bytes:
    """Return a page whose head names it in each language and whose body begins with a sentence for those who see
    nothing else of it."""
    page = page.replace(b'lang="en"', f'lang="{language}"'.encode(), 1)
    alternates = _rendered("languages", language)  # what Blocks has as its head, a script adds
    page = page.replace(b"</head>", alternates + b"</head>", 1)
    end = page.find(b">", page.find(b"<body"))
    return page[: end + 1] + _rendered("noscript", language) + page[end + 1 :]


@cache
def _rendered(name: str, language: str) -> bytes:
    """Return a template of Gradio's page in a language. Rendered once: nothing in it changes."""
    return render(RenderContext().in_language(language), f"gradio/{name}.html").encode()


def _as_script(value: object) -> bytes:
    text = orjson.dumps(value).decode()
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text.encode()
