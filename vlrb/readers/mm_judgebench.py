"""MM-JudgeBench (tahmedge/mm-judgebench): a csv file with `winner`, A or B, of the pairs in many languages.

A is the first response of the dataset. Rows in other languages than English are passed over: their pairs are others.
"""

from __future__ import annotations

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import FileGuide, ParsedFile, PredictionRow, Records, fields_of
from vlrb.votes import UNDECIDED

FORMAT = "mm-judgebench"
GUIDE = FileGuide(
    tool="MM-JudgeBench",
    upload="the csv file as written; its English rows are read",
    fields=(("id",), ("winner",), ("raw_response",)),
)
_CHOICES = {"A": 0, "B": 1, "": UNDECIDED}


def read(records: Records, findings: ProblemCollector, *, spec: BenchmarkSpec) -> ParsedFile:
    """Return the rows in English."""
    parsed, other = ParsedFile(FORMAT), 0
    for fields in fields_of(records, findings):
        record = fields.record
        if record.get("language", "English") != "English":
            other += 1
            continue
        fields.require_id()
        winner = str(record["winner"] or "").strip().upper()
        if winner not in _CHOICES:
            fields.wrong("winner", winner, wanted=_("A, B or empty"), code="bad-vote")
        if fields.finish():
            parsed.add(PredictionRow(fields.line, (_CHOICES[winner],), (0,), fields.id), (record["raw_response"],))
    if other:
        findings.note("other-languages", _("{n} rows in other languages than English were passed over.", n=other))
    return parsed
