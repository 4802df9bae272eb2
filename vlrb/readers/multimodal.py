"""Official script of Multimodal RewardBench, and Omni-RRM on it: ``{"ID", "Label", "output" or "outputs", "Meta"}``.

A was shown first, as stored. `Label` and the category are never read. Omni-RRM's judge answers in JSON, and
`PredBetter` is what the tool has read from that.
"""

from __future__ import annotations

from collections.abc import Iterable

from vlrb.readers import omni_rrm
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, own_responses
from vlrb.votes import UNDECIDED

_FAILED = "None"  # the script writes it after nine tries


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of an official file."""
    spec = parsed.spec
    for fields in records:
        record = fields.record
        fields.require_id()
        texts = _texts(fields)
        if not fields.ok:
            continue
        if "PredBetter" in record or any(map(omni_rrm.holds_json_verdict, texts)):
            parsed.format = omni_rrm.OMNI_RRM.key
        for _failure in range(texts.count(_FAILED)):
            parsed.note_failed(_FAILED)
        choices = [omni_rrm.read_json_verdict(text, spec) for text in texts]
        if choices == [UNDECIDED]:
            choices = [omni_rrm.stated(record.get("PredBetter"))]
        responses = own_responses(record.get("Meta"), spec) or own_responses(record, spec)
        row = PredictionRow(fields.line, choices, [0] * len(choices), fields.id, responses=responses)
        parsed.add(row, texts)


def _texts(fields: FieldReader) -> list[str]:
    """Return the judge's texts; one that is null is empty."""
    record = fields.record
    several = "outputs" in record and "output" not in record
    holders = [{"output": text} for text in fields.votes(record["outputs"], "outputs")] if several else [record]
    return ["" if holder.get("output", "") is None else fields.text("output", where=holder) for holder in holders]


MULTIMODAL = PredictionFormat(
    key="official",
    read=read,
    file={"text_field": "Meta", "reply_field": "output"},
    fields=(("ID",), ("output", "outputs")),
    tool="Multimodal RewardBench's script",
    upload="the file as written, with one output or several",
    command='{"ID": "…", "Label": "A", "output": "… [[A]]", "Meta": {}}',
    note="`[[A]]` in the text is for the response stored first, else `[[B]]` is for the other. `Label` is not read.",
    name="official script",
    verdict_formats=("double-brackets", "answer-tag"),
)
