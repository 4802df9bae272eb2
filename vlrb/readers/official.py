"""vl-rewardbench/VL_RewardBench `inference_hf.py`, and the older `inference.py`: K lines an item, in any order.

The text counts (`cal.py` re-parses it); the stored number and flag, and the ranking, are never read. A line may be
wrapped as ``{"0": {...}}``, and null lines are passed over, as `cal.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip
from vlrb.verdicts import choice_of

RECORD_FIELDS = (("meta.filter_choice", "meta.random_number"),)
REPLY_FIELD = "meta.filter_choice"


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of an official file."""
    add_rows(records, parsed, verdict=choice_of)


def add_rows(records: Iterable[FieldReader], parsed: ParsedFile, *, verdict: Callable[[str], int]) -> None:
    """Add the rows of records. ``verdict``: what a judge's text says about the answers as shown."""
    known: dict[tuple[str, str], tuple[str, str]] = {}  # keeps one copy of texts that come K times
    for fields in records:
        fields.require_id()
        query, responses = fields.text("query"), fields.pair("response")
        text, swapped = _meta(fields)
        if fields.ok:
            responses = known.setdefault(responses, responses)
            choice = flip(verdict(text), swapped)
            parsed.add(PredictionRow(fields.line, (choice,), (swapped,), fields.id, query, responses), (text,))


def _meta(fields: FieldReader) -> tuple[str, int]:
    """Return the judge's text, and 1 where the responses were shown in reverse."""
    meta = fields.record.get("meta")
    if not isinstance(meta, dict):
        fields.wrong("meta", meta, wanted=_("an object"), missing=meta is None)
        return "", 0
    text, swapped = fields.text("filter_choice", REPLY_FIELD, where=meta), meta.get("random_number")
    wanted = _("0 (order as stored) or 1 (swapped)")
    return text, fields.order_flag(swapped, "meta.random_number", wanted=wanted, types=(int,))


OFFICIAL = PredictionFormat(
    key="official",
    read=read,
    file={"one_vote_a_row": True, "reply_field": REPLY_FIELD},
    fields=RECORD_FIELDS,
    name="official script",
    tool="The official script",
    upload="the JSONL that `inference_hf.py` writes (K lines a pair)",
    command="python inference_hf.py",
    note=(
        "in the [benchmark's repository](https://github.com/vl-rewardbench/VL_RewardBench). Upload the JSONL "
        "that it leaves in the working directory, with K lines for each pair. Its name has no K: another run "
        "of the same model on the same day overwrites it."
    ),
    verdict_formats=("official-sentence",),
)
