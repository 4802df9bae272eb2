"""Strict JSON: no duplicate key, no NaN or infinity, no lone surrogate, no NUL, bounded depth.

orjson parses fast but keeps the last of two equal keys and lets NUL pass. Duplicates are excluded by counting: where no
white space is between a key's closing quote and its colon, every key gives one ``":``, and the only others are
quotes inside strings, which are escaped. So if (``":`` not after a backslash) equals the number of keys in the parsed
value, no key was dropped. ``\\\\":`` leaves open whether the quote is escaped; such text, and any where the numbers
differ, is parsed again, slowly and strictly.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import orjson

from vlrb.common.messages import _

MAX_DEPTH = 32
_MAX_DIGITS = 300
_CHUNK = 2**17
_COLON, _QUOTE, _BACKSLASH, _SPACE, _U, _ZERO = b':"\\ u0'
_MARGIN = np.full(3, ord("x"), dtype=np.uint8)  # precedes the first chunk
_FLAT = frozenset({str, int, float, bool, type(None)})
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonFault(Exception):
    """The text is not JSON that may be trusted."""

    def __init__(self, code: str, message: str, *, line: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line  # within the parsed text, from 1


@dataclass(frozen=True, slots=True)
class JsonStats:
    """``plain``: counting keys proves that none occurs twice, and there is no NUL. ``keys``: in the raw text."""

    plain: bool
    keys: int


def scan(text: bytes) -> JsonStats:
    """Return what the bytes of any amount of JSON tell without parsing; chunk by chunk, so that it stays in the
    cache."""
    keys = 0
    unclear = spaced = escaped_nul = False
    octets = np.frombuffer(text, dtype=np.uint8)
    for start in range(0, len(octets), _CHUNK):
        # A chunk's own are the colons of part[3:]; the backslashes are looked at twice where chunks overlap.
        part = octets[start - 3 : start + _CHUNK] if start else np.concatenate((_MARGIN, octets[:_CHUNK]))
        colons = np.flatnonzero(part[3:] == _COLON)
        before, earlier = part[colons + 2], part[colons + 1]
        ends = before == _QUOTE
        escaped = ends & (earlier == _BACKSLASH)
        keys += int(np.count_nonzero(ends)) - int(np.count_nonzero(escaped))
        unclear = unclear or bool((escaped & (part[colons] == _BACKSLASH)).any())
        spaced = spaced or bool(((before <= _SPACE) & ((earlier == _QUOTE) | (earlier <= _SPACE))).any())
        escapes = (part[:-1] == _BACKSLASH) & (part[1:] == _U)
        if not escaped_nul and escapes.any():
            places = np.flatnonzero(escapes) + start - 3
            places = places[places < len(octets) - 5]
            zeros = [octets[places + offset] == _ZERO for offset in (2, 3, 4, 5)]
            escaped_nul = bool(np.logical_and.reduce(zeros).any())
    unclear = unclear or (spaced and _SPACED_COLON.search(text) is not None)
    return JsonStats(not unclear and not escaped_nul, keys)


def loads(text: bytes) -> Any:
    """Parse one JSON value.

    Raises:
        JsonFault: the text is not strict JSON; code bad-json, bad-utf8, duplicate-key, not-a-number, number-too-large,
            lone-surrogate, nul-character or too-deep.
    """
    value, keys = loads_with_key_counts(text)
    result = scan(text)
    return value if result.plain and result.keys == keys else _strictly(text)


def loads_with_key_counts(text: bytes) -> tuple[Any, int]:
    """Parse one JSON value, and count its keys; the caller compares with ``scan`` of the same text, or of more.

    Raises:
        JsonFault: as ``loads``, but for duplicate keys and NUL.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        _explain(text, error)
    kind = type(value)
    return value, _count_keys(value, 1) if kind is dict or kind is list else 0


def _count_keys(value: Any, depth: int) -> int:
    """Return the number of keys in a parsed object or list, its parts included."""
    if depth > MAX_DEPTH:
        raise JsonFault(
            "too-deep", _("nested deeper than {max_depth} levels; no prediction file needs that", max_depth=MAX_DEPTH)
        )
    keys = 0
    if type(value) is dict:
        keys = len(value)
        value = value.values()
    for part in value:
        kind = type(part)
        if kind is dict or (kind is list and not _FLAT.issuperset(map(type, part))):
            keys += _count_keys(part, depth + 1)
    return keys


def _explain(text: bytes, error: orjson.JSONDecodeError) -> NoReturn:
    """Raise the JsonFault that tells why orjson refused a text."""
    if "memory" in error.msg.lower():
        raise MemoryError from None
    if "depth limit" in error.msg:
        raise JsonFault(
            "too-deep", _("nested deeper than {max_depth} levels; no prediction file needs that", max_depth=MAX_DEPTH)
        ) from None
    _strictly(text)
    place = _("line {lineno}, column {colno}", lineno=error.lineno, colno=error.colno)
    raise JsonFault(
        "bad-json", _("not valid JSON at {place}: {msg}", place=place, msg=error.msg), line=error.lineno
    ) from None


def _strictly(text: bytes) -> Any:
    """Return the standard parser with every leniency closed; slow."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise JsonFault(
            "bad-utf8", _("byte {start} is not UTF-8; save the file as UTF-8", start=error.start + 1), line=line
        ) from None
    try:
        value = json.loads(
            decoded, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_short
        )
    except RecursionError:
        raise JsonFault(
            "too-deep", _("nested deeper than {max_depth} levels; no prediction file needs that", max_depth=MAX_DEPTH)
        ) from None
    except json.JSONDecodeError as error:
        place = (
            _("column {colno}", colno=error.colno)
            if error.lineno == 1
            else _("line {lineno}, column {colno}", lineno=error.lineno, colno=error.colno)
        )
        raise JsonFault(
            "bad-json", _("not valid JSON at {place}: {msg}", place=place, msg=error.msg), line=error.lineno
        ) from None
    _check_strings(value, 1)
    return value


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


def _short(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise JsonFault(
            "number-too-large", _("a number has {digits} digits; write a finite number", digits=len(digits))
        )
    return int(digits)


def _check_strings(value: Any, depth: int) -> None:
    """Raise JsonFault for a string that no database can store, or for too deep a value."""
    if isinstance(value, str):
        if "\x00" in value:
            raise JsonFault("nul-character", _("a text holds the character NUL (\\u0000); remove it"))
        if _SURROGATE.search(value):
            raise JsonFault("lone-surrogate", _("a text holds half of a surrogate pair; write whole characters"))
        return
    if depth > MAX_DEPTH:
        raise JsonFault(
            "too-deep", _("nested deeper than {max_depth} levels; no prediction file needs that", max_depth=MAX_DEPTH)
        )
    if isinstance(value, dict):
        for name, part in value.items():
            _check_strings(name, depth)
            _check_strings(part, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _check_strings(part, depth + 1)
