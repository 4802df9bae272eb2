"""tmfk418/Omni-RRM: as the official file, but the judge answers in JSON, ``{"better": 1 | 2 | "A" | "B" | "equal"}``.

``better`` names the answer in the order shown. The scripts in circulation differ in whether `response` and `ranking`
are stored in dataset order or as shown; the texts tell (``Reading.responses_as_shown``), the ranking is never read.
"""

from __future__ import annotations

import json
import re
from typing import Any

from vlrb.predictions.problems import ProblemCollector
from vlrb.readers import official
from vlrb.readers.base import FileGuide, ParsedFile, PredictionRow, Records, choice_of
from vlrb.readers.samples import Samples
from vlrb.votes import UNDECIDED

FORMAT = "omni-rrm"
GUIDE = FileGuide(
    tool="Omni-RRM",
    upload="the result file as written",
)
_BETTER = re.compile(r'"better"\s*:\s*"?([0-9a-z]{1,8})\b', re.IGNORECASE)
_SHOWN = {"1": 0, "a": 0, "2": 1, "b": 1}


def matches_format(record: dict[str, Any]) -> bool:
    """Return whether a record is an official one whose text is, or holds, an object with the key ``better``."""
    if not official.matches_format(record):
        return False
    text = official.unwrap(record)["meta"].get("filter_choice")
    return isinstance(text, str) and "{" in text and '"better"' in text


def better(text: str) -> int:
    """0 or 1: the shown answer that the JSON names; else what the text says in words; else UNDECIDED."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict) and "better" in parsed:
        return _SHOWN.get(str(parsed["better"]).strip().lower()[:8], UNDECIDED)
    match = _BETTER.search(text)
    return _SHOWN.get(match.group(1).lower(), UNDECIDED) if match else choice_of(text)


def read(records: Records, findings: ProblemCollector) -> ParsedFile:
    """Return the rows of an Omni-RRM file."""
    rows: list[PredictionRow] = []
    samples = Samples()
    for line, record in official.present(records, findings):
        if official.explain(record, line, findings=findings):
            text = record["meta"]["filter_choice"]
            choice = better(text)
            samples.see(len(rows), 0, choice=choice, reply=text)
            rows.append(official.row(record, line, result=choice + 1))
    return ParsedFile(
        FORMAT,
        rows,
        one_vote_a_row=True,
        responses_as_shown=True,
        order_by_texts=True,
        samples=samples,
        reply_field=official.REPLY_FIELD,
    )
