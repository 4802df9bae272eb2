"""Parser of CSV files of reported results: rows, or every problem at once with its remedy. Pure.

One row a result: `name` (or `model`), `url` of the source, and percentages by the benchmark's score names: one of its
overall numbers at least. The other fields are those of a definition's reported.json.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from common.refused import FieldProblem, Refused
from storage.metadata import JUDGE_TYPES
from storage.metadata_fields import Choice, Line, Link, Number, Whole, absent, bounded_number, clean_text, yes_no
from storage.models.core import MAX_VOTES
from storage.reported_results import AFTER_FIGURES, BEFORE_FIGURES
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.numbers.reported import UNCHECKED, check_reported

MOST_BYTES, MOST_ROWS, LISTED = 2_000_000, 500, 100
_IGNORED = ("id", "corrected_by", "second_hand")  # what reported.json has besides: ids are made here
_ALIASES = {"model": "name"}
_NOTE = ("annotation", "annotation_url")
_REPORTERS = ("authors", "benchmark", "others")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5})")


def fields(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the fields of a row of a benchmark's file."""
    before = (name for name in BEFORE_FIGURES if name != "id")
    return (*before, *spec.score_names, *spec.combined_keys, *AFTER_FIGURES)


NumberedRecord = tuple[int, Mapping[str, Any]]
"""A line and its fields, unchanged."""


class ReportedFileRejected(Refused):
    """Nothing of the file was taken; `problems` says why, `problem_count` how many there are."""

    code = "file-rejected"

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        self.problems, self.problem_count = tuple(problems)[:LISTED], len(problems)
        more = [f"and {len(problems) - LISTED} more"] if len(problems) > LISTED else []
        lines = ["Nothing was imported.", *map(_sentence, self.problems)]
        super().__init__("\n".join([*lines, *more]), problems=[problem.to_json() for problem in self.problems])


def _sentence(problem: FieldProblem) -> str:
    """Return a problem with its place in front."""
    where = [f"line {problem.line}"] if problem.line else []
    where += [problem.field] if problem.field else []
    return ": ".join(filter(None, (", ".join(where), problem.message)))


@dataclass(frozen=True, slots=True)
class Read:
    """A row that can be taken: its line, and its facts by the names of the fields, and its id."""

    line: int
    facts: dict[str, Any]


def arithmetic(facts: Mapping[str, Any], spec: BenchmarkSpec) -> str:
    """Return whether the figures add up, in a short phrase: as beside the row on the board."""
    check = check_reported(facts, spec)
    return "too little to check" if check.verdict == UNCHECKED else check.remark or "adds up"


def read(data: bytes, spec: BenchmarkSpec) -> tuple[list[Read], list[FieldProblem]]:
    """Return the rows of a file that can be taken, and all that is wrong with the others. Raises FileRejected where
    there are no rows to speak of."""
    records, problems = _records(data)
    rows = []
    for line, raw in records:
        result, wrong = read_row(line, raw, spec=spec)
        problems += wrong
        if result is not None:
            rows.append(result)
    if not rows and not problems:
        raise _whole("The file has no rows. Give it a header and one line a result.")
    return rows, problems


def read_row(line: int, raw: Mapping[str, Any], *, spec: BenchmarkSpec) -> tuple[Read | None, list[FieldProblem]]:
    """Return one row; None where something is wrong with it."""
    problems: list[FieldProblem] = []
    known = fields(spec)
    facts: dict[str, Any] = dict.fromkeys(known)
    for column, value in raw.items():
        name = _ALIASES.get(str(column).strip().lower(), str(column).strip().lower())
        if name in _IGNORED or absent(value):
            continue
        if name not in known:
            message = f"{name[:40]!r} is not a field. Remove it, or name it as one of {', '.join(known)}."
            problems.append(FieldProblem(name[:40], "unknown-field", message=message, line=line))
            continue
        try:
            facts[name] = (_READERS.get(name) or _percent)(value)  # what is no other field is a figure
        except ValueError as error:
            problems.append(FieldProblem(name, "bad-value", message=capital(str(error)), line=line))
    problems += _missing(line, facts, wrong={problem.field for problem in problems}, spec=spec)
    if problems:
        return None, problems
    facts["source"] = facts["source"] or _source(facts["url"])
    return Read(line, {"id": _row_id(facts), **facts}), []


def _records(data: bytes) -> tuple[list[NumberedRecord], list[FieldProblem]]:
    """Return the rows of a CSV file, and those that are none. Raises FileRejected where it cannot be read
    on."""
    if len(data) > MOST_BYTES:
        raise _whole(f"The file has {len(data):,} bytes; at most {MOST_BYTES:,} are read. Split it.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _whole("The file is not UTF-8. Save it as UTF-8 text.") from None
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: list[NumberedRecord] = []
    problems: list[FieldProblem] = []
    try:
        for row in reader:
            if None not in row and None not in row.values():
                records.append((reader.line_num, row))
            else:
                message = "The line has more or fewer fields than the header. Make them equal."
                problems.append(FieldProblem(None, "bad-record", message=message, line=reader.line_num))
    except csv.Error as error:  # where the next line begins is not known any more
        raise _whole(f"Line {reader.line_num} is not CSV ({error}). Put quotes around texts with commas.") from None
    if len(records) > MOST_ROWS:
        raise _whole(f"The file has {len(records):,} rows; at most {MOST_ROWS:,} are read. Split it.")
    return records, problems


def _whole(message: str) -> ReportedFileRejected:
    return ReportedFileRejected([FieldProblem(None, "bad-file", message=message, line=None)])


def _missing(line: int, facts: Mapping[str, Any], *, wrong: set[str | None], spec: BenchmarkSpec) -> list[FieldProblem]:
    row_problems = []
    for name, what in (("name", "the judge's name"), ("url", "the address where the numbers can be checked")):
        if facts[name] is None and name not in wrong:
            row_problems.append(FieldProblem(name, "missing", message=f"Say {what}.", line=line))
    if (facts["annotation"] is None) != (facts["annotation_url"] is None) and not wrong & {*_NOTE}:
        message = "An annotation and the public address where it can be checked go together."
        row_problems.append(FieldProblem("annotation", "missing", message=message, line=line))
    numbers = [facts[name] for name in spec.score_names if facts[name] is not None]
    overall = [facts[name] for name in spec.overall_keys if facts[name] is not None]
    if not overall and not wrong & set(spec.score_names):
        message = f"Give {' or '.join(spec.overall_keys)}, in percent."
        row_problems.append(FieldProblem(spec.headline, "missing", message=message, line=line))
    elif numbers and max(numbers) <= 1:
        message = "All numbers are at most 1, so they look like fractions. Write percent: 63.8, not 0.638."
        row_problems.append(FieldProblem(spec.headline, "not-percent", message=message, line=line))
    return row_problems


def repeated(rows: Sequence[Read]) -> list[FieldProblem]:
    """Return rows of one file that could not be distinguished."""
    seen: dict[str, int] = {}
    row_problems = []
    for row in rows:
        first = seen.setdefault(row.facts["id"], row.line)
        if first != row.line:
            message = f"Repeats line {first}: same name, source and place. Remove one, or say in `place` where each is."
            row_problems.append(FieldProblem("name", "repeated", message=message, line=row.line))
    return row_problems


def _row_id(facts: Mapping[str, Any]) -> str:
    """Return the row's permanent public address: readable, and made of what a result is known by."""
    slug = re.sub(r"[^a-z0-9]+", "-", facts["name"].casefold()).strip("-")[:48].strip("-")
    known_by = json.dumps([facts["name"].casefold(), facts["url"], facts["place"]])
    return "-".join(filter(None, ("r", slug, hashlib.sha256(known_by.encode()).hexdigest()[:10])))


def _source(url: str) -> str:
    """Return a short name for an address."""
    if match := _ARXIV.search(url):
        return f"arXiv:{match[1]}"
    parts = urlsplit(url)
    path = parts.path.strip("/")
    short = path if parts.hostname in ("github.com", "huggingface.co") else f"{parts.hostname}/{path}"
    return short.strip("/")[:120] or str(parts.hostname)


def _percent(value: Any) -> float:
    """Return a percentage; its sign may stand behind it."""
    try:
        return bounded_number(value.strip().removesuffix("%") if isinstance(value, str) else value, 0, high=100)
    except ValueError:
        raise ValueError("expected a number from 0 to 100 with a decimal point, for instance 63.8.") from None


def _day(value: Any) -> str:
    try:
        return date.fromisoformat(clean_text(value, 40)).isoformat()
    except ValueError:
        raise ValueError("expected a day such as 2026-05-13.") from None


def _choice(options: Sequence[str]) -> Callable[[Any], str]:
    choice = Choice("", options=tuple(options))
    return lambda value: choice.read(value.lower().replace(" ", "-") if isinstance(value, str) else value)


_LINE, _ADDRESS = Line("", limit=200).read, Link("", limit=2000).read
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "name": _LINE,
    "organisation": _LINE,
    "judge_type": _choice(JUDGE_TYPES),
    "base_model": _LINE,
    "parameters_b": Number("", example="7", low=0.000001, high=1_000_000).read,
    "open_weights": yes_no,
    "votes_per_item": Whole("", example="5", low=1, high=MAX_VOTES).read,
    "date": _day,
    "source": Line("", limit=300).read,
    "place": _LINE,
    "url": _ADDRESS,
    "notes": Line("", limit=2000).read,
    "judge_name": _LINE,
    "reported_by": _choice(_REPORTERS),
    "oracle": yes_no,
    "annotation": Line("", limit=300).read,
    "annotation_url": _ADDRESS,
}
