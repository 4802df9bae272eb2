"""Search syntax: words that must all occur, and ``field:value``. static/board.js does the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from common.rounding import tenths
from leaderboard.board.rows import BoardRow

Test = Callable[[BoardRow], bool]
Limit = Callable[[float], bool]

_TEXTS: Mapping[str, Callable[[BoardRow], str]] = {
    "model": lambda row: row.model,
    "version": lambda row: row.version,
    "org": lambda row: row.organisation,
    "type": lambda row: row.judge_type,
    "tier": lambda row: row.tier,
    "source": lambda row: row.source,
    "base": lambda row: row.base_model,
    "date": lambda row: row.date,
    "note": lambda row: row.note,
    "about": lambda row: row.about,
    "open": lambda row: {True: "yes", False: "no", None: ""}[row.open_weights],
}
_NUMBERS: Mapping[str, Callable[[BoardRow], float | None]] = {
    "size": lambda row: row.parameters_b,
    "k": lambda row: row.votes_per_item,
    "rank": lambda row: row.rank,
    "decided": lambda row: _percent(row.decided_rate),
    "macro": lambda row: _percent(row.macro),
    "overall": lambda row: _percent(row.overall),
    "general": lambda row: _percent(row.general),
    "hallucination": lambda row: _percent(row.hallucination),
    "reasoning": lambda row: _percent(row.reasoning),
}
_ID = "id"  # one or several, with commas; whole
FIELDS = (_ID, *_TEXTS, *_NUMBERS)
_COMPARISON = re.compile(r"(<=|>=|<|>|=)?(-?[0-9]+(?:\.[0-9]+)?)(?:\.\.(-?[0-9]+(?:\.[0-9]+)?))?")
_DAY = r"[0-9]{4}(?:-[0-9]{2}){0,2}"
_DAYS = re.compile(rf"(<=|>=|<|>|=)?({_DAY})(?:\.\.({_DAY}))?")


def compile_search(text: str) -> Test:
    """Return a test for rows: words that must all occur, and ``field:value`` with <, <=, >, >=, = or a..b for
    numbers and days. A day may be a month or a year: ``date:>=2026-05``."""
    tests = [term(word) for word in _words(text)]
    return lambda row: all(test(row) for test in tests)


def _words(text: str) -> list[str]:
    splitter = shlex.shlex(text.lower(), posix=True, punctuation_chars="")
    splitter.whitespace_split, splitter.commenters, splitter.quotes, splitter.escape = True, "", '"', ""
    try:
        return list(splitter)
    except ValueError:  # a quotation mark without its partner
        return text.lower().replace('"', " ").split()


def term(word: str) -> Test:
    """Return the test of one word, in lower case."""
    name, colon, wanted = word.partition(":")
    if colon and name == _ID:
        ids = frozenset(wanted.split(","))
        return lambda row: row.id in ids
    days = _DAYS.fullmatch(wanted) if colon and name == "date" else None
    if days and (days[1] or days[3]):
        return _between_days(*days.groups())
    if colon and name in _TEXTS:
        read = _TEXTS[name]
        return lambda row: wanted in read(row).lower()
    comparison = _COMPARISON.fullmatch(wanted) if colon and name in _NUMBERS else None
    if comparison:
        low, high = _bounds(*comparison.groups())
        number = _NUMBERS[name]
        return lambda row: (value := number(row)) is not None and low(value) and high(value)
    return lambda row: word in _haystack(row)


def _between_days(sign: str | None, first: str, last: str | None) -> Test:
    """Days compare as texts; a month or a year is all of its days. An unknown day is in no span."""
    if last is not None:
        return lambda row: row.date[: len(first)] >= first and bool(row.date) and row.date[: len(last)] <= last
    tests: Mapping[str, Callable[[str], bool]] = {
        "<": lambda day: day < first,
        "<=": lambda day: day[: len(first)] <= first,
        ">": lambda day: day[: len(first)] > first,
        ">=": lambda day: day >= first,
        "=": lambda day: day[: len(first)] == first,
    }
    test = tests[sign or "="]
    return lambda row: bool(row.date) and test(row.date)


def _bounds(sign: str | None, first: str, second: str | None) -> tuple[Limit, Limit]:
    limit = float(first)
    if second is not None:
        upper = float(second)
        return (lambda value: value >= limit), (lambda value: value <= upper)
    tests: Mapping[str, Limit] = {
        "<": lambda value: value < limit,
        "<=": lambda value: value <= limit,
        ">": lambda value: value > limit,
        ">=": lambda value: value >= limit,
    }
    return tests.get(sign or "=", lambda value: value == limit), lambda value: True


def _haystack(row: BoardRow) -> str:
    return f"{row.model} {row.version} {row.organisation} {row.source} {row.base_model} {row.judge_type}".lower()


def _percent(share: float | None) -> float | None:
    return None if share is None else tenths(share) / 10
