"""Tables: csv and tsv files with a header line, also with semicolons, as Excel saves them in many countries."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.problems import ProblemCollector
from vlrb.readers.strict_json import JsonFault, loads

_DECIMAL = re.compile(r"-?\d+,\d+", re.ASCII)
_CELL_LIMIT = 2**31 - 1  # of characters, the most that csv takes everywhere; the size of the file bounds cells


def delimiter_of(header: str) -> str:
    """Return what separates the names of a header line."""
    return max("\t,;", key=header.count)


def column_names(header: str) -> list[str]:
    """Return the names in a header line; none where it cannot be one."""
    try:
        return next(csv.reader([header], delimiter=delimiter_of(header)), [])
    except csv.Error:
        return []


def table_records(data: bytes, findings: ProblemCollector) -> list[tuple[int, Any]]:
    """Return the records of a tsv or csv file with a header line; line numbers are those of the file."""
    text = _decoded(data, findings)
    delimiter = delimiter_of(text.split("\n", 1)[0])
    # The limit belongs to the process. It gets one value, whatever the file, so that no file changes how another is
    # read; and gets it here, since processes that read no table import this module too.
    csv.field_size_limit(_CELL_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    records: list[tuple[int, Any]] = []
    different: list[tuple[int, int]] = []
    try:
        for cells in reader:
            if not header:
                header = cells
            elif len(cells) != len(header):
                different.append((reader.line_num, len(cells)))
            else:
                if delimiter == ";":  # which Excel writes where the comma is the decimal sign
                    cells = [cell.replace(",", ".") if _DECIMAL.fullmatch(cell) else cell for cell in cells]
                records.append((reader.line_num, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise findings.reject(
            "bad-table", _("the table cannot be read: `{error}`", error=error), line=reader.line_num
        ) from None
    for line, count in different:
        findings.unread += 1
        message = _(
            "has {cells} cells where the header has {header}; write it as the tool does, quoted",
            cells=count,
            header=len(header),
        )
        findings.add("bad-table", message, line=line)
    return records


def _decoded(data: bytes, findings: ProblemCollector) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise findings.reject("bad-utf8", _("the line is not valid UTF-8; save the file as UTF-8"), line=line) from None


def as_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table as a record: names in small letters, empty cells null, votes and scores as lists."""
    record: dict[str, Any] = {name.strip().lower(): None if cell == "" else cell for name, cell in row.items()}
    if "vote" in record:
        record["votes"] = [record.pop("vote")]
    for name in ("votes", "scores"):
        if isinstance(record.get(name), str):
            record[name] = _list(record[name])
    return record


def _list(cell: str) -> Any:
    """Return the list that a cell holds, or a list of the cell."""
    try:
        value = loads(cell.encode())
    except JsonFault:
        value = cell
    return value if isinstance(value, list) else [value]
