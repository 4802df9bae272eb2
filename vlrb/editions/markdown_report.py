"""Reports of headings, paragraphs and tables in Markdown. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, TypeAlias

import pandas as pd

ReportPart: TypeAlias = "str | pd.DataFrame"
"""A table, a paragraph, or a heading, which begins with "## ". Fractions in tables are shares."""
_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def markdown(title: str, parts: Iterable[ReportPart]) -> str:
    """Return a report in Markdown."""
    return "\n\n".join([f"# {_plain(title)}", *map(_markdown, parts)]) + "\n"


def _markdown(part: ReportPart) -> str:
    if isinstance(part, str):
        return f"## {_plain(part[3:])}" if part.startswith("## ") else _plain(part)
    head = [str(name).replace("_", " ") for name in part.columns]
    rows = [[_plain(cell) for cell in row] for row in (head, *part.map(_cell).to_numpy().tolist())]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(head), *rows[1:]))


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, Integral):
        return f"{value:,}"
    return f"{value:.1%}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    """Return a text that is no Markdown and no HTML."""
    return "".join(f"\\{mark}" if mark in "\\`*_[]|#" else _ENTITIES.get(mark, mark) for mark in text)
