"""SVG badge for a README: name of the benchmark, score, rank. Loads no remote resource."""

from __future__ import annotations

import unicodedata

from leaderboard.share.escape import xml
from leaderboard.share.summary import EntrySummary
from leaderboard.site.render import render
from leaderboard.site.render_context import RenderContext

_PAD = 7


def badge(line: EntrySummary) -> bytes:
    """Return the badge as a file."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawing(line)}'.encode()


def drawing(line: EntrySummary) -> str:
    """Return the badge as an SVG for a page, 20 pixels in height.

    Each text says how long it is, so that any font fits the box drawn for it.
    """
    left, right = (_width(text) for text in (line.brand, line.short))
    middle, total = left + 2 * _PAD, left + right + 4 * _PAD
    texts = ((_PAD, left, line.brand), (middle + _PAD, right, line.short))
    return render(
        RenderContext(),
        "parts/badge.svg",
        total=total,
        middle=middle,
        texts=[(x, width, xml(words)) for x, width, words in texts],
        label=xml(f"{line.brand}: {line.name}, {line.short}"),
        title=xml(_title(line)),
    )


def _title(line: EntrySummary) -> str:
    spread = f", 95% interval {line.interval}" if line.interval else ""
    return f"{line.name}: {line.score.partition(' ±')[0]}{spread}{f', {line.place}' if line.place else ''}"


def _width(text: str) -> int:
    """About what 11 px Verdana needs."""
    return round(sum(11 if unicodedata.east_asian_width(sign) in "WF" else 6.1 for sign in text))
