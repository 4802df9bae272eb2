"""VL-Reward-Model style JSON, ``{"summary": ..., "results": [...]}``: a judge's choice, or a reward model's two scores.

`prediction` (or `pred`) is the index of the preferred stored response. Where a record has scores they count, since the
writer's `pred` resolves ties to index 0. The recorded choice counts, not the text beside it.
"""

from __future__ import annotations

from typing import Any

from benchmark.votes import UNDECIDED
from submissions.problems import Findings
from submissions.readers.rows import Fields, Reading, Records, Row, TextCheck, brief, objects, preferred
from submissions.readers.samples import STORED, Samples
from submissions.readers.two_score import SCORE_FIELDS, TEXT_FIELDS, two_scores

FORMAT = "vl-reward-model"
_SCORES = {name for names in SCORE_FIELDS for name in names} | {"outputs"}


def recognise(record: dict[str, Any]) -> bool:
    """An id and a recorded choice."""
    return "id" in record and ("prediction" in record or "pred" in record)


def read(records: Records, findings: Findings) -> Reading:
    """The rows of the results."""
    rows: list[Row] = []
    check, samples = TextCheck(), Samples()
    for line, record in objects(records, findings):
        fields = Fields(record, line, findings)
        fields.text("id")
        scores = two_scores(fields) if _SCORES & record.keys() else None
        choice = preferred(scores) if scores else _choice(fields)
        if fields.finish():
            check.compare(len(rows), choice, next((record[name] for name in TEXT_FIELDS if name in record), None))
            said = scores or record.get("prediction", record.get("pred"))
            samples.see(len(rows), 0, choice, said, STORED)
            rows.append(Row(line, (choice,), None, fields.id))
    return Reading(FORMAT, rows, remarks=check.remarks(), samples=samples)


def _choice(fields: Fields) -> int:
    name = "prediction" if "prediction" in fields.record else "pred"
    if name not in fields.record:
        message = "give `prediction`, the index (0 or 1) of the preferred stored response, or `score_a` and `score_b`"
        fields.fault("prediction", "missing-field", message)
        return UNDECIDED
    value = fields.record[name]
    if value is None or (type(value) is int and value in (-1, 0, 1)):
        return UNDECIDED if value is None else value
    message = f"`{name}` must be 0 or 1, the index of the preferred stored response, or null, not {brief(value)}"
    fields.fault(name, "bad-vote", message)
    return UNDECIDED
