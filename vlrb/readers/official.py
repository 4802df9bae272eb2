"""vl-rewardbench/VL_RewardBench `inference_hf.py`, and the older `inference.py`: K lines an item, in any order.

The text counts (`cal.py` re-parses it); the stored number and flag, and the ranking, are never read. A line may be
wrapped as ``{"0": {...}}``, and null lines are passed over, as `cal.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import (
    SHORT_TEXT,
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    shorten,
    text_mark,
)
from vlrb.readers.samples import Samples
from vlrb.verdicts import verdict
from vlrb.votes import UNDECIDED

FORMAT = "official"
GUIDE = FileGuide(
    name="official script",
    tool="The official script",
    upload="the JSONL that `inference_hf.py` writes (K lines a pair)",
    command="python inference_hf.py",
    note=(
        "in the [benchmark's repository](https://github.com/vl-rewardbench/VL_RewardBench). Upload the JSONL "
        "that it leaves in the working directory, with K lines for each pair. Its name has no K: another run "
        "of the same model on the same day overwrites it."
    ),
)
REPLY_FIELD = "meta.filter_choice"
_ONE = ((0,), (1,), (UNDECIDED,))  # by choice; UNDECIDED is the last


def matches_format(record: dict[str, Any]) -> bool:
    """``meta`` with the judge's text or the order shown."""
    meta = unwrap(record).get("meta")
    return isinstance(meta, dict) and ("filter_choice" in meta or "random_number" in meta)


def unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record itself, or the one in ``{"0": record}``."""
    inner = record.get("0") if len(record) == 1 else None
    return inner if isinstance(inner, dict) else record


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of an official file."""
    rows: list[PredictionRow] = []
    append, samples = rows.append, Samples()
    known: dict[tuple[str, ...], tuple[str, str, tuple[str, str]]] = {}  # keeps one copy of texts that come K times
    for line, record in present(records, findings):
        try:
            meta = record["meta"]
            name, query, responses = record["id"], record["query"], record["response"]
            text, swapped = meta["filter_choice"], meta["random_number"]
            first, second = responses
        except (KeyError, TypeError, ValueError):
            explain(record, line, findings=findings)
            continue
        if (
            type(text) is type(name) is type(query) is type(first) is type(second) is str
            and type(responses) is list
            and type(swapped) is int
            and (swapped == 0 or swapped == 1)
            and len(text) <= SHORT_TEXT
        ):
            result = verdict(text)
            texts = known.get((name, query, first, second))
            if texts is None:
                texts = known[name, query, first, second] = (name, query, (first, second))
            choices = _ONE[(result - 1) ^ swapped if result else UNDECIDED]
            samples.see(len(rows), 0, choice=result - 1, reply=text)
            append(PredictionRow(line, choices, _ONE[swapped], *texts, texts=(text_mark(text),)))
        elif explain(record, line, findings=findings):
            result = verdict(text)
            samples.see(len(rows), 0, choice=result - 1, reply=text)
            append(row(record, line, result=result))
    return ParsedFile(FORMAT, rows, one_vote_a_row=True, samples=samples, reply_field=REPLY_FIELD)


def present(records: Records, findings: ProblemCollector) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of the file, unwrapped; null lines are passed over."""
    nulls = 0
    for line, record in records:
        if type(record) is dict:
            yield line, record if len(record) > 1 else unwrap(record)
        elif record is None:
            nulls += 1
        else:
            findings.unread += 1
            findings.add(
                "not-an-object", _("must be a JSON object {{...}}, not {record}", record=shorten(record)), line=line
            )
    if nulls:
        findings.note("null-lines", _("{nulls} null lines were passed over, as the official script does.", nulls=nulls))


def row(record: dict[str, Any], line: int, *, result: int) -> PredictionRow:
    """Return the row of a record that ``explain`` found good; ``found`` is the verdict of its text."""
    swapped = record["meta"]["random_number"]
    first, second = record["response"]
    choice = (result - 1) ^ swapped if result else UNDECIDED
    marks = (text_mark(record["meta"]["filter_choice"]),)
    return PredictionRow(
        line,
        (choice,),
        shown=(swapped,),
        id=record["id"],
        query=record["query"],
        responses=(first, second),
        texts=marks,
    )


def explain(record: dict[str, Any], line: int, *, findings: ProblemCollector) -> bool:
    """Add every problem of a record; whether it has none."""
    fields = FieldReader(record, line, findings=findings)
    fields.text("id")
    fields.text("query")
    fields.pair("response")
    meta = record.get("meta")
    if not isinstance(meta, dict):
        fields.fault(
            "meta", "missing-field" if meta is None else "bad-field", message=_("the field `meta` must be an object")
        )
    else:
        inner = FieldReader(meta, line, findings=findings)
        inner.id = fields.id
        inner.text("filter_choice", "meta.filter_choice")
        if "random_number" in meta and meta["random_number"] not in (0, 1):
            message = _(
                "`meta.random_number` must be 0 (as stored) or 1 (swapped), not {meta}",
                meta=shorten(meta["random_number"]),
            )
            inner.fault("meta.random_number", "bad-order-flag", message=message)
        else:
            inner.flag("random_number", "meta.random_number")
        fields.ok = fields.ok and inner.ok
    return fields.finish()
