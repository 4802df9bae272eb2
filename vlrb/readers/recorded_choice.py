"""Tools that record which response was chosen: VL-Reward-Model, ARM-Thinker (InternLM), MM-JudgeBench
(tahmedge/mm-judgebench). The recorded choice counts, not the text beside it; labels and scores are not read.
"""

from __future__ import annotations

from collections.abc import Iterable

from vlrb.common.messages import _
from vlrb.readers.base import (
    VOTES,
    FieldReader,
    ParsedFile,
    PredictionFormat,
    PredictionRow,
    as_vote,
    is_bare_verdict,
    shorten,
)
from vlrb.readers.two_score import text_beside
from vlrb.votes import UNDECIDED

_ANSWERS = {1: 0, 2: 1, None: UNDECIDED}
_LETTERS = {"A": 0, "B": 1, "": UNDECIDED}


def _read_results(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of ``{"summary": ..., "results": [...]}``: the index of the preferred stored response. A record with
    scores is read by them, as of any tool (two_score.py).
    """
    for fields in records:
        fields.require_id()
        choice = _index(fields)
        if fields.ok:
            record = fields.record
            parsed.compare(choice, text_beside(record))
            reply = record.get("prediction", record.get("pred"))
            parsed.add(PredictionRow(fields.line, (choice,), id=fields.id), (reply,))


def _index(fields: FieldReader) -> int:
    name = "pred" if "pred" in fields.record and "prediction" not in fields.record else "prediction"
    value = fields.record.get(name)
    choice = UNDECIDED if type(value) is int and value == -1 else as_vote(value)
    if choice is not None and name in fields.record:
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
        fields.wrong(name, value, wanted=wanted, code="bad-vote", missing=name not in fields.record)
    return UNDECIDED


def _read_judge_results(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of ARM-Thinker: 1, 2 or null, the answer shown; answers are shown as in `preds`."""
    for fields in records:
        responses, result = fields.pair("preds"), fields.record.get("judge_result")
        result = result if isinstance(result, dict) else {}
        stated = result.get("model_choice", 0)
        if stated is not None and (type(stated) is not int or stated not in _ANSWERS):
            fields.wrong("judge_result.model_choice", stated, wanted=_("1, 2 or null"), code="bad-vote")
        if fields.ok:
            query = fields.optional_text("question")
            row = PredictionRow(fields.line, (_ANSWERS[stated],), (0,), fields.id, query, responses)
            parsed.add(row, (result.get("model_resp"),))


def _read_winners(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of MM-JudgeBench in English, A is the first response of the dataset; other languages are passed
    over: their pairs are others.
    """
    other = 0
    for fields in records:
        record = fields.record
        if record.get("language", "English") != "English":
            other += 1
            continue
        fields.require_id()
        winner = str(record.get("winner") or "").strip().upper()
        if winner not in _LETTERS or "winner" not in record:
            wanted, missing = _("A, B or empty"), "winner" not in record
            fields.wrong("winner", winner, wanted=wanted, code="bad-vote", missing=missing)
        if fields.ok:
            parsed.add(PredictionRow(fields.line, (_LETTERS[winner],), (0,), fields.id), (record.get("raw_response"),))
    if other:
        message = _("{n} rows in other languages than English were passed over.", n=other)
        parsed.findings.note("other-languages", message)


VL_REWARD_MODEL = PredictionFormat(
    key="vl-reward-model",
    tool="VL-Reward-Model",
    read=_read_results,
    fields=(("id",), ("prediction", "pred")),
)
ARM_THINKER = PredictionFormat(
    key="arm-thinker",
    tool="ARM-Thinker",
    read=_read_judge_results,
    fields=(("preds",), ("judge_result",)),
    file={"text_field": "preds"},
)
MM_JUDGEBENCH = PredictionFormat(
    key="mm-judgebench",
    tool="MM-JudgeBench",
    upload="the csv file as written; its English rows are read",
    read=_read_winners,
    fields=(("id",), ("winner",), ("raw_response",)),
)
