"""VLMEvalKit ``--data VL-RewardBench``: prediction tables as xlsx, tsv or json; one row an item, one vote.

The `prediction` is the judge's text. The order shown follows from the parity rule on the responses, which the
table holds as the text of a Python list. What Excel did to a cell is undone in `xlsx.py` or reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, two_texts
from vlrb.verdicts import choice_of

EXCEL_CELL_LIMIT = 32_767
_FAILED = "Failed to obtain answer via API."
_LONGEST_RESPONSES = 256 * 1024
_CUT = _(
    "{n} texts have exactly {marker} characters: Excel cut them there, and a verdict at the end is lost. Run "
    "VLMEvalKit with PRED_FORMAT=tsv to keep whole texts."
)
_UNREADABLE = _(
    "The responses of {n} rows cannot be read, for instance because Excel cut the cell; the pairs were found by row "
    "number, and the order shown by the tool's parity rule."
)


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a prediction table."""
    for fields in records:
        record = fields.record
        position, fields.id = fields.row_number("index"), None  # the file has no ids
        text = "" if "prediction" in record and record["prediction"] is None else fields.text("prediction")
        if not fields.ok:
            continue
        if len(text) == EXCEL_CELL_LIMIT:
            parsed.mark("cut-cell", _CUT, f"{EXCEL_CELL_LIMIT:,}")
        if text == _FAILED:
            parsed.mark_failed(_FAILED)
        query, responses = fields.optional_text("question"), _responses(record.get("response"))
        if responses is None and record.get("response"):
            parsed.mark("text-unknown", _UNREADABLE)
        row = PredictionRow(fields.line, (choice_of(text),), (0,), None, query, responses)
        row.position, row.by_parity = position, True
        parsed.add(row, (text,))


def _responses(value: Any) -> tuple[str, str] | None:
    """Return the stored responses from the text of a Python list; None where it cannot be read, for instance a cut
    cell."""
    if isinstance(value, str) and value.startswith("[") and len(value) < _LONGEST_RESPONSES:
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    texts = two_texts(value)
    # An escape in a Python literal may be half of a character.
    return texts if texts and not any("\ud800" <= c <= "\udfff" for c in "".join(texts)) else None


VLMEVALKIT = PredictionFormat(
    key="vlmevalkit",
    read=read,
    file={"order_by_rule": True, "reply_field": "prediction"},
    id_field="index",
    fields=(("index",), ("prediction",), ("response", "question")),
    tool="VLMEvalKit",
    upload="run with `--data VL-RewardBench`; the prediction file, xlsx, tsv or json",
    command="python run.py --data VL-RewardBench --model MODEL",
    note=(
        "Upload `MODEL_VL-RewardBench.xlsx`, or better .tsv or .json (`PRED_FORMAT=tsv`): Excel cuts long answers off."
    ),
    verdict_formats=("official-sentence",),
)
