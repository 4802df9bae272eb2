"""VL-Reward-Model style JSON, ``{"summary": ..., "results": [...]}``: a judge's choice.

`prediction` (or `pred`) is the index of the preferred stored response. A record with scores is read by them, as of any
tool (two_score.py). The recorded choice counts, not the text beside it.
"""

from __future__ import annotations

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector
from vlrb.predictions.readability import VOTES
from vlrb.readers.base import (
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    TextComparison,
    as_vote,
    fields_of,
    is_bare_verdict,
    shorten,
)
from vlrb.readers.two_score import text_beside
from vlrb.votes import UNDECIDED

FORMAT = "vl-reward-model"
GUIDE = FileGuide(
    fields=(("id",), ("prediction", "pred")),
    tool="VL-Reward-Model",
    upload="the result file as written",
)


def read(records: Records, findings: ProblemCollector, *, spec: BenchmarkSpec) -> ParsedFile:
    """Return the rows of the results."""
    parsed, check = ParsedFile(FORMAT), TextComparison()
    for fields in fields_of(records, findings):
        record = fields.record
        fields.require_id()
        choice = _choice(fields)
        if fields.finish():
            check.compare(len(parsed.rows), choice, text=text_beside(record))
            reply = record.get("prediction", record.get("pred"))
            parsed.add(PredictionRow(fields.line, (choice,), id=fields.id), (reply,))
    check.remark(parsed)
    return parsed


def _choice(fields: FieldReader) -> int:
    name = "pred" if "pred" in fields.record and "prediction" not in fields.record else "prediction"
    if name not in fields.record:
        message = _(
            "give `prediction`, the index (0 or 1) of the preferred stored response, or `score_a` and `score_b`"
        )
        fields.fault(name, "missing-field", message=message)
        return UNDECIDED
    value = fields.record[name]
    choice = UNDECIDED if type(value) is int and value == -1 else as_vote(value)
    if choice is not None:
        return choice
    if isinstance(value, str) and is_bare_verdict(value):
        message = _(
            "`{name}` is {value}: a verdict about the answers as shown, not an index of the stored responses. {votes}",
            name=name,
            value=shorten(value),
            votes=VOTES,
        )
        fields.fault(name, "bad-vote", message=message)
    else:
        wanted = _("0 or 1, the index of the preferred stored response, or null")
        fields.wrong(name, value, wanted=wanted, code="bad-vote")
    return UNDECIDED
