"""Search syntax: words that must all occur, and ``field:value``."""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from leaderboard.ranking.columns import Column, columns_of
from leaderboard.ranking.rows import BoardRow
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message
from vlrb.common.rounding import tenths
from vlrb.common.translations import languages, translations

Test = Callable[[BoardRow], bool]
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}

_OPEN: Mapping[bool | None, str] = {True: "yes", False: "no", None: ""}


def _text(column: Column, row: BoardRow) -> Any:
    value = row.value(column.key)
    return _OPEN[value] if column.value_type == "flag" else value


def _number(column: Column, row: BoardRow) -> Any:
    value = row.value(column.key)
    return tenths(value) / 10 if value is not None and column.kind in ("interval", "share") else value


_ID = "id"  # one or several, with commas; whole


def _verdict(row: BoardRow) -> str:
    """Return whether published figures follow from the official categories; "" of what is scored here."""
    return ("differ" if row.inconsistent else "follow") if row.tier == "reported" else ""


@cache
def _texts(spec: BenchmarkSpec) -> Mapping[str, Callable[[BoardRow], str]]:
    searched = (
        column for column in columns_of(spec) if column.term and column.value_type in ("text", "flag", "day", "moment")
    )
    return {
        **{column.term: partial(_text, column) for column in searched},
        **{name: operator.attrgetter(name) for name in ("version", "tier", "source", "note", "about")},
        "figures": _verdict,
    }


@cache
def _numbers(spec: BenchmarkSpec) -> Mapping[str, Callable[[BoardRow], float | None]]:
    searched = (column for column in columns_of(spec) if column.term and column.value_type in ("whole", "number"))
    return {column.term: partial(_number, column) for column in searched}


_COMPARISON = re.compile(r"(<=|>=|<|>|=)?(-?[0-9]+(?:\.[0-9]+)?)(?:\.\.(-?[0-9]+(?:\.[0-9]+)?))?")
_DAY = r"[0-9]{4}(?:-[0-9]{2}){0,2}"
_DAYS = re.compile(rf"(<=|>=|<|>|=)?({_DAY})(?:\.\.({_DAY}))?")


def words(text: str) -> list[str]:
    """Return the words of a search in lower case; quotation marks hold several together."""
    splitter = shlex.shlex(text.lower(), posix=True, punctuation_chars="")
    splitter.whitespace_split, splitter.commenters, splitter.quotes, splitter.escape = True, "", '"', ""
    try:
        return list(splitter)
    except ValueError:  # a quotation mark without its partner
        return text.lower().replace('"', " ").split()


def term(word: str, spec: BenchmarkSpec) -> Test:
    """Return the test of one word of a search, in lower case: it occurs in the row.

    `field:value` looks into one field, with <, <=, >, >=, = or a..b for numbers and days. A day may be a month or a
    year: `date:>=2026-05`.
    """
    name, colon, wanted = word.partition(":")
    if colon and name == _ID:
        ids = frozenset(wanted.split(","))
        return lambda row: row.id in ids
    days = _DAYS.fullmatch(wanted) if colon and name == "date" else None
    if days and (days[1] or days[3]):
        return _between_days(days[1], days[2], last=days[3])
    if colon and name in _texts(spec):
        read = _texts(spec)[name]
        return lambda row: wanted in searched(read(row)).lower()
    comparison = _COMPARISON.fullmatch(wanted) if colon and name in _numbers(spec) else None
    if comparison:
        is_wanted, number = _between(comparison[1], float(comparison[2]), last=comparison[3]), _numbers(spec)[name]
        return lambda row: (value := number(row)) is not None and is_wanted(value)
    return lambda row: word in haystack(row)


STATED = ("judge_type", "parameters_b", "open_weights", "base_model", "organisation")
"""Columns of what submitters may leave out, besides those that the metadata declares."""


def asked_column(word: str, spec: BenchmarkSpec) -> str:
    """Return the column of what submitters may leave out that a word asks for; "" for every other word."""
    name, colon, wanted = word.partition(":")
    columns = (column for column in columns_of(spec) if column.stated or column.key in STATED)
    key = next((column.key for column in columns if colon and column.term == name), "")
    return "" if name in _numbers(spec) and not _COMPARISON.fullmatch(wanted) else key


def _between_days(sign: str | None, first: str, *, last: str | None) -> Test:
    """Days compare as texts; a month or a year is all of its days. An unknown day is in no span."""
    if last is not None:
        return lambda row: first <= row.date[: len(first)] and bool(row.date) and row.date[: len(last)] <= last
    compare = _SIGNS[sign or "="]
    return lambda row: bool(row.date) and compare(row.date[: len(first)], first)


def _between(sign: str | None, first: float, *, last: str | None) -> Callable[[float], bool]:
    if last is not None:
        return lambda value: first <= value <= float(last)
    compare = _SIGNS[sign or "="]
    return lambda value: compare(value, first)


def haystack(row: BoardRow) -> str:
    """Return the text that a word without a field is looked for in, in lower case."""
    parts = (row.model, row.version, row.organisation, row.source, row.base_model, row.judge_type)
    return " ".join(map(searched, parts)).lower()


def searched(text: str) -> str:
    """Return a message in every language, so that a search finds the same rows in each; a plain text as it is."""
    if not isinstance(text, Message):
        return text
    return " ".join(dict.fromkeys(translations(tag).text(text) for tag in languages()))
