"""R1-Reward and Proxy-GRM: `chosen` and `rejected` texts, and `rewards`, a pair or a list of K pairs.

Which stored response `chosen` is follows from its text. Rewards refer to the order shown: chosen first, unless the
prompt was swapped (`reverse`, Proxy-GRM). Equal rewards are undecided.
"""

from __future__ import annotations

from typing import Any

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import (
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    TextComparison,
    objects,
    preferred,
    shorten,
)
from vlrb.readers.samples import Samples
from vlrb.votes import UNDECIDED

FORMAT = "r1-reward"
GUIDE = FileGuide(
    name="R1-Reward",
    tool="R1-Reward, Proxy-GRM",
    upload="the result file as written",
    also="Proxy-GRM",
)
SWAPPED_FORMAT = "proxy-grm"


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record has the responses by the names of the label, and rewards."""
    return "chosen" in record and "rejected" in record and "rewards" in record


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of a file of rewards."""
    rows: list[PredictionRow] = []
    check, samples = TextComparison(), Samples()
    format = FORMAT
    for line, record in objects(records, findings):
        fields = FieldReader(record, line, findings=findings)
        fields.text("id")
        responses = fields.text("chosen"), fields.text("rejected")
        rewards = _rewards(fields)
        shown_choices = [preferred(pair) for pair in rewards]
        swapped = _reverse(fields)
        if "reverse" in record:
            format = SWAPPED_FORMAT
        if not fields.finish():
            continue
        for choice, text in zip(shown_choices, _texts(record), strict=False):
            check.compare(len(rows), choice, text=text)
        for vote, choice in enumerate(shown_choices):
            samples.see(len(rows), vote, choice=choice, reply=rewards[vote])
        choices = [choice if choice == UNDECIDED else choice ^ swapped for choice in shown_choices]
        query = fields.optional_text("qs") or fields.optional_text("prompt") or ""
        rows.append(
            PredictionRow(line, choices, shown=[swapped] * len(choices), id=fields.id, query=query, responses=responses)
        )
    remarks = check.remarks()
    return ParsedFile(format, rows, order_by_texts=True, text_field="chosen", remarks=remarks, samples=samples)


def _rewards(fields: FieldReader) -> list[tuple[float, float]]:
    """Per vote the rewards of the two responses, as shown."""
    value = fields.record.get("rewards")
    if isinstance(value, list) and value and not any(isinstance(part, list) for part in value):
        value = [value]
    pairs = fields.votes(value, "rewards")
    return [fields.scores(pair, f"rewards[{i}]") for i, pair in enumerate(pairs)]


def _reverse(fields: FieldReader) -> int:
    value = fields.record.get("reverse", False)
    if isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return int(value)
    message = _("`reverse` must be true (rejected shown first) or false, not {value}", value=shorten(value))
    fields.fault("reverse", "bad-order-flag", message=message)
    return 0


def _texts(record: dict[str, Any]) -> list[Any]:
    value = record.get("critic")
    return value if isinstance(value, list) else [value]
