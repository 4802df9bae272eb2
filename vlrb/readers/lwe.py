"""LWE (snumprlab/lwe): a judge's text in ``response``, `Output1` shown first; in ``swap_response`` one about the
answers exchanged, if that was asked too. `pred`, `acc` and `Better` are not read. `ID` may have _1 or _2 behind the id
of the dataset: the texts find the pair.
"""

from __future__ import annotations

from collections.abc import Iterable

from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip
from vlrb.votes import UNDECIDED


def bracketed(text: str) -> int:
    """Return 0 for [[A]], 1 for [[B]]; without either, the same of single brackets. With both it is UNDECIDED."""
    for marks in (("[[A]]", "[[B]]"), ("[A]", "[B]")):
        first, second = (mark in text for mark in marks)
        if first or second:
            return UNDECIDED if first and second else int(second)
    return UNDECIDED


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a run: a vote for each order in which the judge was asked."""
    for fields in records:
        responses = fields.text("Output1"), fields.text("Output2")
        replies = [fields.text(name) for name in ("response", "swap_response") if name in fields.record]
        if fields.ok:
            choices = [flip(bracketed(reply), swapped) for swapped, reply in enumerate(replies)]
            query, shown = fields.optional_text("Text"), range(len(replies))
            parsed.add(PredictionRow(fields.line, choices, shown, fields.id, query, responses), replies)


LWE = PredictionFormat(
    key="lwe",
    read=read,
    file={"text_field": "Output1", "reply_field": "response"},
    tool="LWE",
    upload="`runs/.../vlrewardbench.jsonl` as written, with one order or both",
    fields=(("Output1",), ("Output2",), ("response",)),
)
