"""Message for people and names of languages for crawlers, in Gradio's pages as they are without JavaScript."""

from __future__ import annotations

from functools import cache

from starlette.types import ASGIApp

from leaderboard.render import render
from leaderboard.render_context import RenderContext
from vlrb.common.translations import ENGLISH
from web.middleware.replaced_responses import HtmlPagesMiddleware


class NoscriptMiddleware(HtmlPagesMiddleware):
    """An application whose pages begin with a sentence for those who see nothing else of them, and name their
    language."""

    def __init__(self, app: ASGIApp, language: str = ENGLISH) -> None:
        super().__init__(app, lambda scope, page: insert_noscript(page, language))


def insert_noscript(page: bytes, language: str = ENGLISH) -> bytes:
    """Return a page whose head names it in each language and whose body begins with the sentence."""
    page = page.replace(b'lang="en"', f'lang="{language}"'.encode(), 1)
    alternates = _rendered("languages", language)  # what Blocks has as its head, a script adds
    page = page.replace(b"</head>", alternates + b"</head>", 1)
    begin = page.find(b"<body")
    end = page.find(b">", begin)
    if begin < 0 or end < 0:
        return page
    return page[: end + 1] + _rendered("noscript", language) + page[end + 1 :]


@cache
def _rendered(name: str, language: str) -> bytes:
    """Return a template of Gradio's pages in a language. Rendered once: nothing in it changes."""
    return render(RenderContext(language=language), f"gradio/{name}.html").encode()
