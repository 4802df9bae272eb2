"""One score for each of the two responses, in stored order: MergeToVLRM (`outputs`), vl-reward-model-exam (`score0`,
`score1`), VL-Reward-Model and others (`score_a`, `score_b`); or the probability that the first is better, averaged over
both orders: JEV. A tie is undecided; the writers' own arg-max (index 0) is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, preferred, two_texts

SCORE_FIELDS = (("score0", "score1"), ("score_0", "score_1"), ("score_a", "score_b"))
TEXT_FIELDS = ("raw_output", "output", "critique", "judgement", "text")


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a file with two scores a record."""
    for fields in records:
        record = fields.record
        fields.require_id()
        scores = two_scores(fields)
        texts = two_texts([record.get("response0"), record.get("response1")])
        query = fields.optional_text("query") if texts else None
        if fields.ok:
            choice = preferred(scores)
            parsed.compare(choice, text_beside(record))
            row = PredictionRow(fields.line, (choice,), id=fields.id, query=query, responses=texts)
            parsed.add(row, (scores,))


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


TWO_SCORE = PredictionFormat(
    key="two-score",
    read=read,
    file={"text_field": "response0"},
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


def read_probabilities(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a file of probabilities: above one half is 0, below is 1, exactly one half is undecided."""
    for fields in records:
        fields.require_id()
        p = fields.number("p_first_better")
        if fields.ok and (p < 0.0 or p > 1.0):
            fields.wrong("p_first_better", p, wanted=_("a probability from 0 to 1"))
        if fields.ok:
            parsed.add(PredictionRow(fields.line, (preferred((p, 0.5)),), id=fields.id), (p,))


JEV = PredictionFormat(
    key="jev",
    tool="JEV",
    read=read_probabilities,
    fields=(("id",), ("p_first_better",)),
)
