"""Gradio pages as they are served: title, header, introduction and footer of the benchmark that was asked for.

Gradio lays a page out once, for the first benchmark. Its components stand in the page as JSON, which the browser draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from starlette.requests import Request
from starlette.types import Scope

from leaderboard.render import FOOTER_ID, HEADER_ID, footer_markup, header_markup, render
from leaderboard.render_context import RenderContext
from submissions.submit_html import INTRODUCTION_ID, PAGE, introduction_html
from vlrb.common.messages import _
from vlrb.common.translations import ENGLISH, translations
from web.benchmarks import requested_benchmark
from web.middleware.replaced_responses import Rewrite
from web.services import Services

_NAMES = {PAGE: _("Submit predictions")}
_HEAD = b"<head>"
_CONFIG, _END = b"window.gradio_config = ", b";</script>"
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}  # as Gradio writes JSON into a page


@dataclass(frozen=True, slots=True)
class PageValues:
    """What a served page says, in its language. `values`: of components, by their element ids."""

    title: str
    values: Mapping[str, str] = field(default_factory=dict)
    language: str = ENGLISH


def page_title(path: str, context: RenderContext) -> str:
    """Return the title of a Gradio page by its address; the board's has no name of its own."""
    of = translations(context.language)
    texts = (_NAMES.get(path, ""), _("{brand} leaderboard", brand=context.spec.brand))
    return " · ".join(of.text(text) for text in texts if text)


def rewrite_pages(services: Services, limit_mb: float) -> Rewrite:
    """Return what makes Gradio's pages those of the benchmark that a request is about."""
    contexts = {benchmark.id: benchmark.context for benchmark in services.benchmarks}
    first = services.first.context

    def rewrite(scope: Scope, page: bytes) -> bytes:
        path = scope["path"]
        context = contexts.get(requested_benchmark(Request(scope), tuple(contexts)), first) if path in _NAMES else first
        return with_values(page, page_values(path, context, limit_mb=limit_mb))

    return rewrite


def page_values(path: str, context: RenderContext, *, limit_mb: float) -> PageValues:
    """Return what a page of one benchmark says beside its controls."""
    values: dict[str, str] = {}
    if path in _NAMES:
        values = {HEADER_ID: header_markup(context, path), FOOTER_ID: footer_markup(context)}
    if path == PAGE:
        values[INTRODUCTION_ID] = introduction_html(
            context.spec, limit_mb, prefix=context.prefix, of=context.translations
        )
    return PageValues(page_title(path, context), values, language=context.language)


def with_values(page: bytes, wanted: PageValues) -> bytes:
    """Return a page of Gradio with this title, language and these values; a page without components as it is."""
    before, begin, rest = page.partition(_CONFIG)
    written, end, after = rest.partition(_END)
    if not begin or not end:
        return page
    config = orjson.loads(written)
    config["title"] = wanted.title
    for component in config["components"]:
        properties = component["props"]
        if (value := wanted.values.get(properties.get("elem_id"))) is not None:
            properties["value"] = value
    start = render(RenderContext(language=wanted.language), "gradio/title.html", title=wanted.title).encode()
    return before.replace(_HEAD, _HEAD + start, 1) + begin + _as_script(config) + end + after


def _as_script(value: object) -> bytes:
    text = orjson.dumps(value).decode()
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text.encode()
