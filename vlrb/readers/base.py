"""Base types of readers: rows of votes with hints for matching, and shared checks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import TIE, BenchmarkSpec, value_at
from vlrb.common.messages import _
from vlrb.readers.problems import ProblemCollector
from vlrb.readers.samples import SHOWN, STORED, Samples, excerpt
from vlrb.verdicts import choice_of
from vlrb.votes import MAX_VOTES_PER_ITEM, UNDECIDED

UNKNOWN = -1  # no item
TEXT_LIMIT = 64 * 1024  # bytes of UTF-8 in one judge's text
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LONGEST_NUMBER = 40
_LONGEST_SHOWN = 60
_VOTES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}
SHORT_TEXT = TEXT_LIMIT // 4  # characters that never exceed TEXT_LIMIT

VOTES = _(
    "Write one line for each pair: its `id`, and in `votes` 0 where the judge chose the response that the dataset has "
    'first, 1 where it chose the other: {"id": "ID", "votes": [0]}.'
)
"""What to do with a file of which no votes can be read."""
_FAILED = _(
    "{n} replies are '{marker}': the call to the judge failed. They count as wrong. Run these again before you submit."
)
_UNSCORED = _("{n} pairs have null in place of a score. They are undecided, which counts as wrong.")
_DISAGREES = _(
    "The recorded choice counts. Of the judge's texts beside it, {n} state another one or none that can be read; see "
    "whether your parser guesses."
)

Records = Iterable[tuple[int, Any]]
"""(line, parsed value) in file order."""


@dataclass(frozen=True, slots=True)
class PredictionFormat:
    """Files that a tool writes, and how to read them. In ``upload``, ``note`` backticks enclose code, and links are
    Markdown.

    ``upload`` is in the documentation's table. The about page shows ``command`` (what to run, or a line of the
    file) and ``note`` where there is a command; else it names the tool. ``name``: how sentences call the format, where
    that is not the tool.
    ``verdict_formats``: of the benchmarks that the tool is for; () is all.
    ``fields``: what a record of the format has, one of each group of names; a dotted name is of an object inside.
    ``only_if``: what else holds of a record. ``id_field``: "" is ``id`` or ``ID``.
    ``read``: takes the ``FieldReader`` of each record and a `ParsedFile`, to which it adds rows; what it cannot use is
    a problem. ``file``: what holds of every such file, by the fields of `ParsedFile`.
    """

    key: str  # in reports
    tool: str
    read: Callable[[Iterable[FieldReader], ParsedFile], None]
    fields: tuple[tuple[str, ...], ...] = ()
    upload: str = "the result file as written"
    command: str = ""
    note: str = ""
    name: str = ""
    verdict_formats: tuple[str, ...] = ()
    only_if: Callable[[dict[str, Any]], bool] | None = None
    id_field: str = ""
    file: Mapping[str, Any] = field(default_factory=dict)

    def matches(self, record: dict[str, Any]) -> bool:
        """Return whether a record is of this format."""
        return all(held_of(record, names) for names in self.fields) and (self.only_if is None or self.only_if(record))

    def read_file(self, records: Records, findings: ProblemCollector, *, table: ItemTable) -> ParsedFile:
        """Return the rows of a file about the benchmark of a table."""
        parsed = ParsedFile(self.key, findings, table=table, **self.file)
        self.read(fields_of(records, findings, id_field=self.id_field), parsed)
        return parsed


@dataclass(slots=True)
class PredictionRow:
    """The votes that one record of a file holds.

    ``choices``: per vote 0, 1, TIE or UNDECIDED, an index into the record's responses; 0 is the first of ``responses``
    where the record has texts, else the first of the benchmark's own file; with ``by_parity`` the one that the parity
    rule shows first, by the item's own lengths, since white space in a file's texts may have been changed; with
    ``about_label`` the preferred one, whichever that is.
    ``shown``: per vote the index of the response that was shown first; None where the order is not known.
    ``item`` and ``turned`` are found by matching: the item's index, and 1 where the row's responses are in reverse of
    the stored order, 0 where they are not, None where no text tells.
    """

    line: int
    choices: Sequence[int]
    shown: Sequence[int] | None = None
    id: str | None = None
    query: str | None = None
    responses: tuple[str, str] | None = None
    key: str | None = None  # item key, of native files
    position: int | None = None  # row number in the revision that the tool downloaded
    by_parity: bool = False
    about_label: bool = False
    margin: float | None = None  # of one vote that follows from two scores: how far they are apart
    item: int = UNKNOWN
    turned: int | None = None


@dataclass(slots=True)
class ParsedFile:
    """A whole file, read; ``revision`` and ``by_order`` are found by matching."""

    format: str
    findings: ProblemCollector
    table: ItemTable
    rows: list[PredictionRow] = field(default_factory=list)
    one_vote_a_row: bool = False  # several rows make up one item's votes
    # The responses may be in displayed order, and `shown` means it only if they are not:
    responses_as_shown: bool = False
    order_by_rule: bool = False  # a rule on the item tells the order, whatever became of the texts
    text_field: str = "response"  # the field of the texts, for problems
    marks: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)  # of ``mark``, the indices of rows
    samples: Samples = field(default_factory=Samples)
    reply_field: str | None = None  # the field of the judge's texts; None in a file of votes or scores
    revision: str = ""  # that fits best
    by_order: list[str] = field(default_factory=list)  # ids that were distinguished by their order

    @property
    def spec(self) -> BenchmarkSpec:
        """The benchmark that the file is about."""
        return self.table.spec

    def label(self, item: int) -> str:
        """Return the id of an item in the file's revision, or in the first that has it."""
        ids = self.table.items[item].ids
        return ids.get(self.revision) or next(iter(ids.values()))

    def labels(self, rows: Iterable[PredictionRow]) -> dict[str, None]:
        """Return the ids of the items of rows, each once."""
        return dict.fromkeys(self.label(row.item) for row in rows)

    def add(self, row: PredictionRow, replies: Sequence[Any]) -> None:
        """Keep a row. ``replies``: per vote the judge's text, or the value in its place; two scores are a tuple."""
        place = len(self.rows)
        for vote, (choice, reply) in enumerate(zip(row.choices, replies, strict=False)):
            if row.shown is None:
                self.samples.see(place, vote, choice=choice, reply=reply, words=STORED)
            else:
                self.samples.see(place, vote, choice=flip(choice, row.shown[vote]), reply=reply, words=SHOWN)
        parts = [part for reply in replies for part in (reply if isinstance(reply, tuple) else (reply,))]
        if any(part != part for part in parts):  # NaN, in place of null
            self.mark("null-scores", _UNSCORED)
        if len(replies) == 1 and len(parts) == 2:
            row.margin = abs(float(parts[0]) - float(parts[1]))
        self.rows.append(row)

    def mark(self, code: str, sentence: str, marker: str = "") -> None:
        """Keep a notice about the next row, or a vote of it; {n} in the sentence is how often it is kept."""
        self.marks.setdefault((code, sentence, marker), []).append(len(self.rows))

    def mark_failed(self, marker: str) -> None:
        """Mark the next row where the call for a vote failed; the tool wrote a marker in place of a reply."""
        self.mark("failed-reply", _FAILED, marker)

    def compare(self, choice: int, text: Any) -> None:
        """Mark the next row where the text beside a recorded choice states none, or another one."""
        if not isinstance(text, str) or not text.strip():
            return
        stated = stated_choice(text)
        if stated != choice and (choice in (0, 1) or stated != UNDECIDED):
            self.mark("text-disagrees", _DISAGREES)

    def note_marks(self) -> None:
        """Add the notices about rows, with the ids of their items."""
        for (code, sentence, marker), rows in self.marks.items():
            message = _(sentence, n=len(rows), marker=marker)
            self.findings.note(code, message, ids=self.labels(self.rows[index] for index in rows))


def held_of(record: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Return which of some fields a record has; a dotted name is of an object inside."""
    inside = ((value_at(record, name.rpartition(".")[0]) if "." in name else record, name) for name in names)
    return [name for holder, name in inside if isinstance(holder, dict) and name.rpartition(".")[2] in holder]


def flip(choice: int, turned: int) -> int:
    """Return a choice with the two responses exchanged, if they are ``turned``; TIE and UNDECIDED stay."""
    return 1 - choice if turned and choice in (0, 1) else choice


def preferred(scores: Sequence[float]) -> int:
    """Return the index of the larger of two scores; TIE of equal ones, UNDECIDED where one is missing."""
    first, second = scores
    return 0 if first > second else 1 if second > first else TIE if first == second else UNDECIDED


def fields_of(records: Records, findings: ProblemCollector, *, id_field: str = "") -> Iterator[FieldReader]:
    """Yield the fields of each record that is a JSON object, and keep what it says of being right; a problem for each
    other one. Null lines are passed over, as the official script does.
    """
    nulls = 0
    for line, value in records:
        record = unwrap(value)
        if type(record) is dict:
            flag = as_vote(record.get("correct", record.get("is_correct")))
            if flag in (0, 1):
                findings.flags[line] = flag
            yield (fields := FieldReader(record, line, findings=findings, id_field=id_field))
            findings.unread += not fields.ok
        elif record is None:
            nulls += 1
        else:
            findings.unread += 1
            findings.add(
                "not-an-object", _("must be a JSON object {{...}}, not {record}", record=shorten(record)), line=line
            )
    if nulls:
        findings.note("null-lines", _("{nulls} null lines were passed over, as the official script does.", nulls=nulls))


def unwrap(record: Any) -> Any:
    """Return the record itself, or the one in ``{"0": record}``, as some official files have it."""
    inner = record.get("0") if type(record) is dict and len(record) == 1 else None
    return inner if isinstance(inner, dict) else record


def own_responses(row: Any, spec: BenchmarkSpec) -> tuple[str, str] | None:
    """Return both responses where a row repeats them under the names of the benchmark's own file."""
    return two_texts([value_at(row, name) for name in spec.fields.responses])


def two_texts(values: Any) -> tuple[str, str] | None:
    """Return a list of two texts as such; None of all else."""
    if isinstance(values, list) and len(values) == 2 and all(isinstance(text, str) for text in values):
        return values[0], values[1]
    return None


class FieldReader:
    """Typed access to one record's fields; a problem for each that is missing or wrong, and then it is not ``ok``."""

    __slots__ = ("findings", "id", "id_field", "line", "ok", "record")

    def __init__(self, record: dict[str, Any], line: int, *, findings: ProblemCollector, id_field: str = "") -> None:
        self.record, self.line, self.findings, self.ok = record, line, findings, True
        self.id_field = id_field or ("ID" if "ID" in record else "id")
        name = record.get(self.id_field)
        self.id = name.strip() if isinstance(name, str) else None

    def fault(self, field: str, code: str, *, message: str) -> None:
        """Record a problem about a field, and that this record cannot be used."""
        self.ok = False
        self.findings.add(code, message, line=self.line, id=self.id, field=field)

    def require_id(self) -> None:
        """Add a problem if the record has no id."""
        self.text(self.id_field)

    def text(self, name: str, path: str | None = None, *, where: dict[str, Any] | None = None) -> str:
        """Return a text of at most TEXT_LIMIT bytes."""
        path = path or name
        holder = self.record if where is None else where
        value = holder.get(name)
        if isinstance(value, str):
            return self.bounded(value, path)
        self.wrong(path, value, wanted=_("a text"), missing=name not in holder)
        return ""

    def bounded(self, value: str, path: str) -> str:
        """Return the text, with a problem if it is too long."""
        if len(value) > SHORT_TEXT and (size := len(value.encode())) > TEXT_LIMIT:
            message = _("has {size:,} bytes; at most {text_limit:,} are read, cut it", size=size, text_limit=TEXT_LIMIT)
            self.fault(path, "text-too-long", message=message)
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None where the field is missing, null or something else."""
        value = self.record.get(name)
        return value if isinstance(value, str) else None

    def pair(self, name: str) -> tuple[str, str]:
        """Return a list of two texts."""
        value = self.record.get(name)
        if texts := two_texts(value):
            return self.bounded(texts[0], name), self.bounded(texts[1], name)
        self.wrong(name, value, wanted=_("a list of two texts"), missing=name not in self.record)
        return "", ""

    def number(self, name: str) -> float:
        """Return a finite number; NaN where it is null."""
        number = as_number(self.record.get(name))
        if name in self.record and number is not None:
            return number
        self.wrong(name, self.record.get(name), wanted=_("a number"), missing=name not in self.record)
        return 0.0

    def scores(self, value: Any, path: str) -> tuple[float, float]:
        """Return two finite numbers; NaN in place of null."""
        parts = [None, None] if value is None else value if isinstance(value, list) else []
        numbers = [as_number(part) for part in parts]
        if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
            return numbers[0], numbers[1]
        self.wrong(path, value, wanted=_("a list of two finite numbers"))
        return 0.0, 0.0

    def row_number(self, name: str) -> int | None:
        """Return a row number of the dataset, also from digits."""
        value = self.record.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if type(value) is int and value >= 0:
            return value
        self.wrong(name, value, wanted=_("the row number in the dataset, from 0"))
        return None

    def order_flag(self, value: Any, path: str, *, wanted: str, types: Sequence[type]) -> int:
        """Return 1 where a value of one of some types says that the responses were shown in reverse, else 0."""
        if type(value) in types and value in (0, 1):
            return int(value)
        self.wrong(path, value, wanted=wanted, code="bad-order-flag")
        return 0

    def score_pairs(self, name: str) -> list[tuple[float, float]]:
        """Return the pairs of ``scores`` in a field, one for each vote; one vote may stand without its outer list."""
        value = self.record.get(name)
        flat = isinstance(value, list) and len(value) == 2 and not any(isinstance(part, list) for part in value)
        pairs = self.votes([value] if flat else value, name)
        return [self.scores(pair, f"{name}[{i}]") for i, pair in enumerate(pairs)]

    def votes(self, value: Any, path: str) -> list[Any]:
        """Return a list of 1 to MAX_VOTES_PER_ITEM parts."""
        if not isinstance(value, list):
            self.wrong(path, value, wanted=_("a list, one entry for each vote"), missing=path not in self.record)
            return []
        if not 1 <= len(value) <= MAX_VOTES_PER_ITEM:
            message = _(
                "holds {value} votes; give 1 to {max_votes_per_item}, as many on every pair",
                value=len(value),
                max_votes_per_item=MAX_VOTES_PER_ITEM,
            )
            self.fault(path, "votes-count", message=message)
            return []
        return value

    def wrong(self, path: str, value: Any, *, wanted: str, code: str = "bad-field", missing: bool = False) -> None:
        """Record that a field is missing, or is not what it must be: "a text"."""
        if missing:
            message = _("the field `{path}` is missing; it must be {wanted}", path=path, wanted=wanted)
            self.fault(path, "missing-field", message=message)
            return
        shown = shorten(value)
        message = _("the field `{path}` must be {wanted}, not {value}", path=path, wanted=wanted, value=shown)
        self.fault(path, code, message=message)


def as_number(value: Any) -> float | None:
    """Return a finite number, also from a text; NaN for null; None for all else, true and false included."""
    if value is None:
        return math.nan
    if type(value) is str and len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    try:
        return value if type(value) in (int, float) and math.isfinite(value) else None
    except OverflowError:  # a whole number of over 300 digits
        return None


def as_vote(value: Any) -> int | None:
    """Return a vote: 0 or 1, also as 0.0, false, or a text; UNDECIDED for null; None for all else."""
    if value is None:
        return UNDECIDED
    if type(value) is str:
        value = _VOTES.get(value.strip().lower())
    return int(value) if type(value) in (int, float, bool) and value in (0, 1) else None


def shorten(value: Any) -> str:
    """Return a few words that show a wrong value."""
    text = excerpt(value) if isinstance(value, dict | list) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


_ANSWER_TAG = re.compile(r"<answer>\s*(?:(?:answer|response)\s*)?\[*([12AB])\b", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{\s*([12AB])\s*\}", re.IGNORECASE)
_ANSWER_IS = re.compile(r"\banswer is:? ?\(?([12AB])\b", re.IGNORECASE)
_LONGEST_VERDICT = 40
_ALONE = re.compile(r"\W{0,4}(?:answer |response )?([12AB])\W{0,4}", re.IGNORECASE)


def stated_choice(text: str) -> int:
    """Return what a text beside a recorded choice states: 0, 1 or UNDECIDED. Used for a warning only, never for a
    vote."""
    result = choice_of(text)
    if result != UNDECIDED:
        return result
    short = text.strip()
    mark = (
        _ANSWER_TAG.search(text)
        or _BOXED.search(text)
        or (_ALONE.fullmatch(short) if len(short) <= _LONGEST_VERDICT else None)
        or _ANSWER_IS.search(text)
    )
    return "12AB".index(mark.group(1).upper()) % 2 if mark else UNDECIDED


def is_bare_verdict(text: str) -> bool:
    """Return whether a text is a verdict and nothing else: A, [[B]], \\boxed{2}, Answer 1."""
    short = text.strip()
    return len(short) <= _LONGEST_VERDICT and any(mark.fullmatch(short) for mark in (_ALONE, _BOXED))
