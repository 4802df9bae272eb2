"""Self-contained HTML reports of headings, paragraphs, tables and bars. `templates/report.html` escapes every text.

A report is in one language: that of the terminal where its title is a message, else English.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from vlrb.common.command_line import ENGLISH, spoken
from vlrb.common.messages import Message, _, joined
from vlrb.common.template_translations import translate_templates
from vlrb.common.translations import translations

Cell = str | int | float | None


class ReportCell(NamedTuple):
    """A cell of a table; `right`: in a column of numbers."""

    text: str
    right: bool


class ReportBar(NamedTuple):
    """A horizontal bar; `width` in percent of the longest, `number` at its end."""

    name: str
    width: str
    number: str


class ReportPart(NamedTuple):
    """A part of a report. `text`: its sentence, or the name of a table or figure."""

    kind: Literal["heading", "paragraph", "note", "table", "bars"]
    text: str
    head: Sequence[ReportCell] = ()
    rows: Sequence[Sequence[ReportCell]] = ()
    bars: Sequence[ReportBar] = ()


def page(title: str, parts: Iterable[ReportPart]) -> str:
    """Return a whole document, in the language of its title."""
    terminal = spoken() if isinstance(title, Message) else None
    language = ENGLISH if terminal is None else terminal.language
    return _template(language).render(title=title, parts=parts)


@cache
def _template(language: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    translate_templates(environment, translations(language))
    return environment.get_template("report.html")


def heading(text: str) -> ReportPart:
    """Return a heading of a section."""
    return ReportPart("heading", text)


def paragraph(text: str, *, note: bool = False) -> ReportPart:
    """Return a paragraph; a note has a mark of its own."""
    return ReportPart("note" if note else "paragraph", text)


def table(titles: Sequence[str], rows: Iterable[Sequence[Cell]]) -> ReportPart:
    """Return a table. Columns of numbers are aligned right, shares are percent; a wide one scrolls by keyboard."""
    lines = [list(row) for row in rows]
    numeric = [any(isinstance(row[i], int | float) for row in lines) for i in range(len(titles))]
    return ReportPart(
        "table",
        _("Table: {columns}", columns=joined(titles[:3])),
        head=[ReportCell(title, right) for title, right in zip(titles, numeric, strict=True)],
        rows=[[ReportCell(_cell_text(cell), right) for cell, right in zip(row, numeric, strict=True)] for row in lines],
    )


def bars(title: str, values: Sequence[tuple[str, int]]) -> ReportPart:
    """Return horizontal bars with their numbers."""
    largest = max((value for _name, value in values), default=0) or 1
    items = [ReportBar(name, f"{100 * value / largest:.1f}", number=f"{value:,}") for name, value in values]
    return ReportPart("bars", title, bars=items)


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return cell if isinstance(cell, Message) else str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.1%}"
