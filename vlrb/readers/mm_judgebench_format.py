"""MM-JudgeBench (tahmedge/mm-judgebench): a csv file with `winner`, A or B, of the pairs in many languages.

A is the first response of the dataset. Rows in other languages than English are passed over: their pairs are others.
"""

from __future__ import annotations

from typing import Any

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import FieldReader, FileGuide, ParsedFile, PredictionRow, Records, objects, shorten
from vlrb.readers.samples import Samples
from vlrb.votes import UNDECIDED

FORMAT = "mm-judgebench"
GUIDE = FileGuide(tool="MM-JudgeBench", upload="the csv file as written; its English rows are read")
_CHOICES = {"A": 0, "B": 1, "": UNDECIDED}


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record has a winner beside the reply of a model."""
    return "id" in record and "winner" in record and "raw_response" in record


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows in English."""
    rows: list[PredictionRow] = []
    samples, other = Samples(), 0
    for line, record in objects(records, findings):
        if record.get("language", "English") != "English":
            other += 1
            continue
        fields = FieldReader(record, line, findings=findings)
        fields.text("id")
        winner = str(record["winner"] or "").strip().upper()
        if winner not in _CHOICES:
            message = _("`winner` must be A, B or empty, not {winner}", winner=shorten(winner))
            fields.fault("winner", "bad-vote", message=message)
        if fields.finish():
            choice = _CHOICES[winner]
            samples.see(len(rows), 0, choice=choice, reply=record["raw_response"])
            rows.append(PredictionRow(line, (choice,), (0,), fields.id))
    if other:
        findings.note("other-languages", _("{n} rows in other languages than English were passed over.", n=other))
    return ParsedFile(FORMAT, rows, samples=samples)
