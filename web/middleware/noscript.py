"""Message for people and names of languages for crawlers, in Gradio's pages as they are without JavaScript."""

from __future__ import annotations

from starlette.types import ASGIApp

from common.messages import _
from common.translations import ENGLISH, Translations, languages, translations
from web.middleware.html_pages import HtmlPagesMiddleware

_SENTENCE = _(
    "This page needs JavaScript. <a {style} href='/'>The board</a> and the other public pages work without it; "
    "<a {style} href='/about#predictions'>files are checked</a> and submitted from a command line, too. "
    "<a {style} href='/docs'>All of it over HTTP</a>",
    style="style='color: inherit'",
)
_STYLE = "font: 15px/1.5 system-ui, sans-serif; margin: 40px 24px; max-width: 68ch"


class NoscriptMiddleware(HtmlPagesMiddleware):
    """An application whose pages begin with a sentence for those who see nothing else of them, and name their
    language."""

    def __init__(self, app: ASGIApp, language: str = ENGLISH) -> None:
        spoken = translations(language)
        super().__init__(app, lambda scope, page: insert_noscript(page, spoken))


def insert_noscript(page: bytes, of: Translations | None = None) -> bytes:
    """Return a page whose head names it in each language and whose body begins with the sentence."""
    of = of or translations(ENGLISH)
    page = page.replace(b'lang="en"', f'lang="{of.language}"'.encode(), 1)
    page = page.replace(b"</head>", _alternates() + b"</head>", 1)  # what Blocks has as its head, a script adds
    begin = page.find(b"<body")
    end = page.find(b">", begin)
    return page if begin < 0 or end < 0 else page[: end + 1] + _element(of) + page[end + 1 :]


def _alternates() -> bytes:
    return "".join(f'<link rel="alternate" hreflang="{tag}" href="?lang={tag}">' for tag in languages()).encode()


def _element(of: Translations) -> bytes:
    return f'<noscript><p style="{_STYLE}">{of.text(_SENTENCE)}</p></noscript>'.encode()
