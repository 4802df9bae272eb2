"""CSV files that no spreadsheet takes for formulas. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_STARTS_FORMULA = "=+\\-@\t\r\n＝＋－＠"  # spreadsheets in some languages take the full-width signs too
# A spreadsheet whose separator is ; or TAB cuts our cells elsewhere, so every place where a cell might begin counts.
_FORMULA = re.compile(rf"(^|[;,|\t\r\n])(?=[\s\"'\ufeff\u00a0]*[{_STARTS_FORMULA}])")
_MIGHT = re.compile(f"[{_STARTS_FORMULA}]")


@lru_cache(maxsize=4096)  # thousands of rows share the names of types, tiers and rules
def csv_cell(text: str) -> str:
    """Return text for a cell of a spreadsheet: an apostrophe is before whatever would be calculated.

    Also after leading spaces or quotation marks, which spreadsheets skip (OWASP, "CSV injection").
    """
    return _FORMULA.sub(r"\1'", text) if _MIGHT.search(text) else text


def csv_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """RFC 4180, UTF-8. Texts stand in quotation marks and cannot be formulas; numbers are bare, None is empty."""
    lines = [*(",".join(map(_cell, row)) for row in (head, *rows)), ""]
    return "\r\n".join(lines).encode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + csv_cell(value).replace('"', '""') + '"'
    return repr(value)
