"""One score for each of the two responses, in stored order: MergeToVLRM (`outputs`), vl-reward-model-exam (`score0`,
`score1`), VL-Reward-Model and others (`score_a`, `score_b`). A tie is undecided; the writers' own arg-max (index 0) is
not read.
"""

from __future__ import annotations

from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import (
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    TextComparison,
    fields_of,
    preferred,
    two_texts,
)

FORMAT = "two-score"
GUIDE = FileGuide(
    fields=(("id",), ("outputs", "score0", "score_0", "score_a")),
    name="two scores for each pair",
    tool="Two scores for each pair",
    upload="the result file of MergeToVLRM, vl-reward-model-exam and others that write two scores",
    command='{"id": "…", "scores": [[0.71, 0.64]]}',
    note=(
        "For reward models that rate one response at a time, in the order of the dataset. A tie is undecided;"
        " never let it fall to the first response. Files of MergeToVLRM, JEV and similar projects are read as"
        " they are."
    ),
)
SCORE_FIELDS = (("score0", "score1"), ("score_0", "score_1"), ("score_a", "score_b"))
TEXT_FIELDS = ("raw_output", "output", "critique", "judgement", "text")


def read(records: Records, findings: ProblemCollector, *, spec: BenchmarkSpec) -> ParsedFile:
    """Return the rows of a file with two scores a record."""
    parsed, check = ParsedFile(FORMAT, text_field="response0"), TextComparison()
    for fields in fields_of(records, findings):
        record = fields.record
        fields.require_id()
        scores = two_scores(fields)
        texts = two_texts([record.get("response0"), record.get("response1")])
        query = fields.optional_text("query") if texts else None
        if fields.finish():
            choice = preferred(scores)
            check.compare(len(parsed.rows), choice, text=text_beside(record))
            row = PredictionRow(fields.line, (choice,), id=fields.id, query=query, responses=texts)
            parsed.add(row, (scores,))
    check.remark(parsed)
    return parsed


def text_beside(record: dict[str, Any]) -> Any:
    """Return the judge's text beside its scores, under one of the names in use; None without one."""
    return next((record[name] for name in TEXT_FIELDS if name in record), None)


def two_scores(fields: FieldReader) -> tuple[float, float]:
    """Return the scores of the stored responses 0 and 1."""
    record = fields.record
    if "outputs" in record:
        return fields.scores(record["outputs"], "outputs")
    first, second = next((names for names in SCORE_FIELDS if names[0] in record or names[1] in record), SCORE_FIELDS[0])
    return fields.number(first), fields.number(second)
