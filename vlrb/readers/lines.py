"""JSON lines, strictly: bounded, split on LF alone, every fault with its line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.problems import ProblemCollector, UploadRejected
from vlrb.readers.strict_json import JsonFault, loads
from vlrb.votes import MAX_VOTES_PER_ITEM

LINE_LIMIT = 256 * 1024
_LISTS = ("results", "rows", "details", "logs")


def json_lines(data: bytes, findings: ProblemCollector, *, items: int) -> Iterator[tuple[int, Any]]:
    """Yield the strict JSON values of JSON lines, with their line numbers; a problem for each line that is none."""
    for number, line in _numbered(data, findings, items=items):
        try:
            if len(line) > LINE_LIMIT:
                long = _(
                    "the line has {line:,} bytes; at most {line_limit:,} are read, shorten its texts",
                    line=len(line),
                    line_limit=LINE_LIMIT,
                )
                raise JsonFault("line-too-long", long)
            value = loads(line)
        except JsonFault as fault:
            code, message = fault.code, fault.message
            if not line.strip():
                code, message = "blank-line", _("the line is blank; remove it, or restore the record that was there")
            findings.unread += 1
            findings.add(code, message, line=number)
        else:
            yield number, value


def _numbered(data: bytes, findings: ProblemCollector, *, items: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines up to the last that is not blank; split on LF alone."""
    tail = data[-64:].rstrip()  # one copy less of a large file
    end = len(data) - len(data[-64:]) + len(tail) if tail else len(data.rstrip())
    start = 0
    for number in range(1, items * MAX_VOTES_PER_ITEM + 1):
        stop = data.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield number, data[start:stop]
        start = stop + 1
        if start >= end:
            return
    raise too_many_records(number + data.count(b"\n", start, end) + 1, findings, items=items)


def too_many_records(records: int, findings: ProblemCollector, *, items: int) -> UploadRejected:
    """Return the rejection of a file with more records than votes can be."""
    message = _(
        "{records:,} records; at most {items:,} pairs with {max_votes_per_item} votes each are taken",
        records=records,
        items=items,
        max_votes_per_item=MAX_VOTES_PER_ITEM,
    )
    return findings.reject("too-many-records", message)


def records_of(document: Any) -> list[Any]:
    """Return the records in a JSON document: a list, or an object with one under a name in use, or a record alone.

    Rows as the dataset viewer of the Hub gives them, ``{"row_idx": 0, "row": {...}}``, are unwrapped.
    """
    records = document
    if isinstance(document, dict):
        held = (document[name] for name in _LISTS if isinstance(document.get(name), list))
        records = next(held, [document])
    rows = records if isinstance(records, list) else [records]
    return [row["row"] if isinstance(row, dict) and {"row_idx", "row"} <= row.keys() else row for row in rows]


def first_lines(data: bytes, count: int) -> list[bytes]:
    """Return the first lines; a giant line in pieces, so that it costs little here."""
    stream = io.BytesIO(data)
    lines = iter(lambda: stream.readline(LINE_LIMIT + 1), b"")
    return [line.removesuffix(b"\n") for line in islice(lines, count)]
