"""The file of predictions: native JSON lines from the journal, as many votes on every line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.judge.configuration import CHAT
from vlrb.judge.journal import RecordedAnswer
from vlrb.judge.pairs import PairFile, PairToJudge, RequestKey
from vlrb.judge.prompts import ANSWER_TAG
from vlrb.judge.totals import read_reply
from vlrb.readers.base import TEXT_LIMIT
from vlrb.votes import UNDECIDED

PREDICTIONS = "predictions.jsonl"
RecordedAnswers = Mapping[RequestKey, RecordedAnswer]


def write_predictions(
    folder: Path, file: PairFile, *, pairs: Sequence[PairToJudge], answers: RecordedAnswers, run: Mapping[str, Any]
) -> Path:
    """Write the predictions of a complete run; its first line carries what the run was. Returns the path."""
    path = folder / PREDICTIONS
    lines: list[str] = []
    for pair in pairs:
        line: dict[str, Any] = {"id": pair.id}
        if pair.id in file.repeated:
            line["item"] = pair.fingerprint
        line |= votes_of(pair, answers, run)
        if not lines:
            line["run"] = run
        lines.append(json.dumps(line, ensure_ascii=False))
    atomic_files.write(path, ("\n".join(lines) + "\n").encode(), mode=atomic_files.PUBLIC)
    return path


def votes_of(pair: PairToJudge, answers: RecordedAnswers, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the votes of a line: `judgements`, `scores`, or `votes` where texts do not tell them to a service."""
    if run["api"] != CHAT:
        both = [[answers[RequestKey(pair.row, k, response=place)] for place in (0, 1)] for k in range(run["votes"])]
        return {"scores": [[answer.score for answer in vote] for vote in both], **_notes(both)}
    given, reading = [answers[RequestKey(pair.row, vote)] for vote in range(run["votes"])], run["reading"]
    long = any(len((answer.text or "").encode()) > TEXT_LIMIT for answer in given)  # no service reads these
    if long or reading == ANSWER_TAG:
        return {"votes": [_choice(answer, reading) for answer in given], **_notes([[answer] for answer in given])}
    return {"judgements": [_judgement(answer) for answer in given]}


def _judgement(answer: RecordedAnswer) -> dict[str, Any]:
    result: dict[str, Any] = {"text": answer.text or "", "swapped": answer.swapped}
    return result | ({"reason": answer.reason} if answer.reason else {}) | ({"failed": True} if answer.failed else {})


def _choice(answer: RecordedAnswer, reading: str) -> int | None:
    shown = read_reply(answer.text or "", reading)
    return None if shown == UNDECIDED else shown ^ int(answer.swapped)


def _notes(given: Sequence[Sequence[RecordedAnswer]]) -> dict[str, Any]:
    """Return why votes lack an answer. ``given``: of each vote one answer, or those about both responses."""
    reasons = ["; ".join(dict.fromkeys(answer.reason for answer in vote if answer.reason)) for vote in given]
    return {"reasons": reasons} if any(reasons) else {}
