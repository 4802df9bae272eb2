"""Message for browsers without JavaScript, inserted into Gradio's pages."""

from __future__ import annotations

_SENTENCE = (
    b'<noscript><p style="font: 15px/1.5 system-ui, sans-serif; margin: 40px 24px; max-width: 68ch">'
    b'This page needs JavaScript. <a style="color: inherit" href="/">The board</a> and the other public pages work '
    b'without it; <a style="color: inherit" href="/about#predictions">files are checked</a> and submitted from a '
    b'command line, too. <a style="color: inherit" href="/docs">All of it over HTTP</a></p></noscript>'
)


def insert_noscript(page: bytes) -> bytes:
    """Return a page whose body begins with the sentence; what has no body stays as it is."""
    begin = page.find(b"<body")
    end = page.find(b">", begin)
    return page if begin < 0 or end < 0 else page[: end + 1] + _SENTENCE + page[end + 1 :]
