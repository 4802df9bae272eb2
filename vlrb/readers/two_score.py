"""One score for each of the two responses, in stored order: MergeToVLRM (`outputs`), vl-reward-model-exam (`score0`,
`score1`), and others (`score_a`, `score_b`). A tie is undecided; the writers' own arg-max (index 0) is not read.
"""

from __future__ import annotations

from typing import Any

from vlrb.predictions.problems import ProblemCollector
from vlrb.readers.base import (
    FieldReader,
    FileGuide,
    ParsedFile,
    PredictionRow,
    Records,
    TextComparison,
    objects,
    preferred,
)
from vlrb.readers.samples import STORED, Samples

FORMAT = "two-score"
GUIDE = FileGuide(
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


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record has two scores, under one of the names in use."""
    if isinstance(record.get("outputs"), list) and "id" in record:
        return True
    return any(first in record and second in record for first, second in SCORE_FIELDS)


def matches_in_document(record: dict[str, Any]) -> bool:
    """Return False: scores in a document are VL-Reward-Model's."""
    return False


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of a file with two scores a record."""
    rows: list[PredictionRow] = []
    check, samples = TextComparison(), Samples()
    for line, record in objects(records, findings):
        fields = FieldReader(record, line, findings=findings)
        fields.text("id")
        scores = two_scores(fields)
        choice = preferred(scores)
        query, texts = fields.optional_text("query"), _responses(record)
        if fields.finish():
            check.compare(len(rows), choice, text=next((record[name] for name in TEXT_FIELDS if name in record), None))
            samples.see(len(rows), 0, choice=choice, reply=scores, words=STORED)
            rows.append(
                PredictionRow(
                    line, (choice,), shown=None, id=fields.id, query=query if texts else None, responses=texts
                )
            )
    return ParsedFile(FORMAT, rows, text_field="response0", remarks=check.remarks(), samples=samples)


def two_scores(fields: FieldReader) -> tuple[float, float]:
    """Return the scores of the stored responses 0 and 1."""
    record = fields.record
    if "outputs" in record:
        return fields.scores(record["outputs"], "outputs")
    first, second = next((names for names in SCORE_FIELDS if names[0] in record or names[1] in record), SCORE_FIELDS[0])
    return fields.number(first), fields.number(second)


def _responses(record: dict[str, Any]) -> tuple[str, str] | None:
    first, second = record.get("response0"), record.get("response1")
    return (first, second) if isinstance(first, str) and isinstance(second, str) else None
