"""Tables as CSV that no spreadsheet takes for formulas. Pure."""

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
    """Return a table as RFC 4180 in UTF-8: no text can be a formula, what is not known is empty."""
    import pandas as pd  # a third of a second, which the start of the web process should not wait for

    cells = [[_cell(value) for value in row] for row in rows]
    table = pd.DataFrame(cells, columns=[_cell(name) for name in head], dtype=object)
    return table.to_csv(index=False, lineterminator="\r\n").encode()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(value) if isinstance(value, str) else value
