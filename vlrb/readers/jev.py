"""JEV: the probability that the first (stored response 0) is better, averaged over both orders.

Above one half is 0, below is 1, exactly one half is undecided. `first_is_better` and `order_agree` are not read.
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
    objects,
    preferred,
    shorten,
)
from vlrb.readers.samples import STORED, Samples

FORMAT = "jev"
GUIDE = FileGuide(
    tool="JEV",
    upload="the result file as written",
)


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record has a probability that the first response is better."""
    return "p_first_better" in record


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of a file of probabilities."""
    rows: list[PredictionRow] = []
    samples = Samples()
    for line, record in objects(records, findings):
        fields = FieldReader(record, line, findings=findings)
        fields.text("id")
        p = fields.number("p_first_better")
        if fields.ok and (p < 0.0 or p > 1.0):
            fields.fault(
                "p_first_better", "bad-field", message=_("must be a probability from 0 to 1, not {p}", p=shorten(p))
            )
        if fields.finish():
            choice = preferred((p, 0.5))
            samples.see(len(rows), 0, choice=choice, reply=p, words=STORED)
            rows.append(PredictionRow(line, (choice,), shown=None, id=fields.id))
    return ParsedFile(FORMAT, rows, samples=samples)
