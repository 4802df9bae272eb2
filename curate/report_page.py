"""Pieces of self-contained HTML reports: tables and bars as SVG. Every text is escaped; nothing is loaded or run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c1b19; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #d8d4cc; padding: .3rem .7rem; text-align: left; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.note { border-left: 4px solid #b3541e; padding: .2rem 1rem; background: #faf4ee; }
svg text { font: 13px system-ui, sans-serif; fill: #1c1b19; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LABEL, _BAR, _ROW = 300, 420, 26  # widths and height of the bars, in pixels
_LONGEST_LABEL = 44
Cell = str | int | float | None


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole document."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Return a heading of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, note: bool = False) -> str:
    """Return a paragraph; a note stands out."""
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def table(titles: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table; numbers stand to the right, shares as percent."""
    lines = [list(row) for row in rows]
    numeric = [any(isinstance(row[i], int | float) for row in lines) for i in range(len(titles))]
    head = "".join(
        f'<th scope="col"{_css(right)}>{escape(title)}</th>' for title, right in zip(titles, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_css(right)}>{_shown(cell)}</td>" for cell, right in zip(row, numeric, strict=True))
        + "</tr>\n"
        for row in lines
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def bars(title: str, values: Sequence[tuple[str, int]]) -> str:
    """Return horizontal bars with their numbers."""
    largest = max((value for _, value in values), default=0) or 1
    height = _ROW * len(values) + 4
    lines = []
    for number, (name, value) in enumerate(values):
        y, width = _ROW * number, _BAR * value / largest
        label = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
        lines.append(
            f'<text x="{_LABEL - 8}" y="{y + 18}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{_LABEL}" y="{y + 4}" width="{width:.1f}" height="{_ROW - 8}" fill="#1b7f6b"/>'
            f'<text x="{_LABEL + width + 6:.1f}" y="{y + 18}">{value:,}</text>'
        )
    return (
        f'<figure><svg viewBox="0 0 {_LABEL + _BAR + 80} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(lines)}</svg><figcaption>{escape(title)}</figcaption></figure>"
    )


def _css(right: bool) -> str:
    return ' class="n"' if right else ""


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return escape(str(cell))
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.1%}"
