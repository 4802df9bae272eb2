"""Strict JSON and JSON lines: no duplicate key, no NaN or infinity, no lone surrogate, no NUL, no deeper than Python's
stack; lines are bounded and split on LF alone.

It is the standard parser with every leniency closed. Strings are looked at only where the text holds an escape that
can make NUL or half of a surrogate pair: neither can be written otherwise.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

from vlrb.common.messages import _
from vlrb.readers.problems import ProblemCollector, UploadRejected
from vlrb.votes import MAX_VOTES_PER_ITEM

LINE_LIMIT = 256 * 1024
_LISTS = ("results", "rows", "details", "logs")
_ODD_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_WRONG = (
    _("Expecting value"),
    _("Expecting property name enclosed in double quotes"),
    _("Expecting ',' delimiter"),
    _("Expecting ':' delimiter"),
    _("Extra data"),
    _("Invalid control character at"),
    _("Unterminated string"),
)
"""What Python says of wrong JSON."""
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class JsonFault(Exception):
    """The text is not JSON that may be trusted."""

    def __init__(self, code: str, message: str, *, line: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line  # within the parsed text, from 1


def loads(text: bytes) -> Any:
    """Parse one JSON value.

    Raises:
        JsonFault: the text is not strict JSON; code bad-json, bad-utf8, duplicate-key, not-a-number, number-too-large,
            lone-surrogate, nul-character or too-deep.
    """
    try:
        value = _DECODER.decode(text.decode("utf-8"))
        if b"\\u" in text and _ODD_ESCAPE.search(text):
            _refuse_odd_texts(text, value)
        return value
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise JsonFault(
            "bad-utf8", _("byte {start} is not UTF-8; save the file as UTF-8", start=error.start + 1), line=line
        ) from None
    except RecursionError:
        raise JsonFault("too-deep", _("nested too deeply; no prediction file needs that")) from None
    except json.JSONDecodeError as error:
        wrong = error.msg.removesuffix(" starting at")  # the place is named before it
        place = {"msg": _(wrong), "colno": error.colno}
        if error.lineno == 1:
            message = _("not valid JSON at column {colno}: {msg}", **place)
        else:
            message = _("not valid JSON at line {lineno}, column {colno}: {msg}", lineno=error.lineno, **place)
        if wrong == "Extra data":
            message = _("{fault}. Write each record on a line of its own, with nothing after it.", fault=message)
        elif wrong.startswith("Unterminated") or error.pos >= len(error.doc.rstrip()):
            message = _("{fault}. It ends in the middle: write or upload the file again.", fault=message)
        raise JsonFault("bad-json", message, line=error.lineno) from None
    except ValueError:
        raise JsonFault("number-too-large", _("a number has thousands of digits; write a finite number")) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise JsonFault(
            "duplicate-key", _("the key {twice!r} occurs twice in one object; keep one of them", twice=twice[:80])
        )
    return result


def _no_constant(name: str) -> NoReturn:
    raise JsonFault("not-a-number", _("{name} is not JSON; write a finite number or null", name=name))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise JsonFault(
            "number-too-large", _("the number {digits} is too large; write a finite number", digits=digits[:40])
        )
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def _refuse_odd_texts(text: bytes, value: Any) -> None:
    """Raise JsonFault for a string that no database can store."""
    if _NUL.search(text):
        raise JsonFault("nul-character", _("a text holds the character NUL (\\u0000); remove it"))
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = _("a text holds half of a surrogate pair; write whole characters")
        raise JsonFault("lone-surrogate", message) from None


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
