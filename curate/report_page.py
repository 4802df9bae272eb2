"""Pieces of self-contained HTML reports: tables and bars. Every text is escaped; nothing is loaded or run.

A message is written in the language of the terminal; a plain text stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as escaped

from common.command_line import ENGLISH, spoken, translated
from common.messages import Message, _, joined

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1b19; --line: #d8d4cc; --ground: #fff; --note: #faf4ee; --bar: #1b7f6b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9e6df; --line: #45423c; --ground: #181715; --note: #2a211a; --bar: #3fa48d; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
body { color: var(--ink); background: var(--ground); }
p { overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; }
.wide { margin: 1rem 0; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
th { border-bottom-color: var(--ink); font-weight: 600; vertical-align: bottom; }
td { max-width: 24rem; overflow-wrap: break-word; }
td.n, th.n, .bars .n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.note { border-left: 4px solid #b3541e; padding: .5rem 1rem; background: var(--note); }
figure { margin: 1rem 0; }
figcaption { font-weight: 600; }
.bars { list-style: none; margin: .4rem 0; padding: 0; }
.bars li { display: grid; grid-template-columns: minmax(0, 17rem) minmax(0, 1fr) 4rem; gap: .8rem; padding: .15rem 0; }
.bars span { overflow-wrap: anywhere; }
.bars i { background: var(--bar); height: .9rem; margin-top: .3rem; min-width: 1px; }
@media (max-width: 40rem) {
  .bars li { grid-template-columns: minmax(0, 1fr) 3.5rem; gap: 0 .8rem; }
  .bars span:first-child { grid-column: 1 / -1; }
}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
Cell = str | int | float | None


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole document, in the language of its title."""
    of = spoken() if isinstance(title, Message) else None
    language = ENGLISH if of is None else of.language
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Return a heading of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, note: bool = False) -> str:
    """Return a paragraph; a note stands out."""
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def table(titles: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table; numbers stand to the right, shares as percent. A wide one can be scrolled with the keyboard."""
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
    table_name = _("Table: {columns}", columns=joined(titles[:3]))
    name = (escape if isinstance(titles[0], Message) else escaped)(table_name)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{name}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>"
    )


def bars(title: str, values: Sequence[tuple[str, int]]) -> str:
    """Return horizontal bars with their numbers."""
    largest = max((value for _name, value in values), default=0) or 1
    lines = [
        f'<li><span>{escape(name)}</span><i style="width: {100 * value / largest:.1f}%"></i>'
        f'<span class="n">{value:,}</span></li>\n'
        for name, value in values
    ]
    return f'<figure><figcaption>{escape(title)}</figcaption><ul class="bars">\n{"".join(lines)}</ul></figure>'


def escape(text: str) -> str:
    """Return a text as HTML; a message in the language of the terminal."""
    return escaped(translated(text) if isinstance(text, Message) else text)


def _css(right: bool) -> str:
    return ' class="n"' if right else ""


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return escape(str(cell))
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.1%}"
