"""JEV: the probability that the first (stored response 0) is better, averaged over both orders.

Above one half is 0, below is 1, exactly one half is undecided. `first_is_better` and `order_agree` are not read.
"""

from __future__ import annotations

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import FileGuide, ParsedFile, PredictionRow, Records, fields_of, preferred

FORMAT = "jev"
GUIDE = FileGuide(
    fields=(("id",), ("p_first_better",)),
    tool="JEV",
    upload="the result file as written",
)


def read(records: Records, findings: ProblemCollector, *, spec: BenchmarkSpec) -> ParsedFile:
    """Return the rows of a file of probabilities."""
    parsed = ParsedFile(FORMAT)
    for fields in fields_of(records, findings):
        fields.require_id()
        p = fields.number("p_first_better")
        if fields.ok and (p < 0.0 or p > 1.0):
            fields.wrong("p_first_better", p, wanted=_("a probability from 0 to 1"))
        if fields.finish():
            parsed.add(PredictionRow(fields.line, (preferred((p, 0.5)),), id=fields.id), (p,))
    return parsed
