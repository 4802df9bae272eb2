"""tmfk418/Omni-RRM: as the official file, but the judge answers in JSON, ``{"better": 1 | 2 | "A" | "B" | "equal"}``.

``better`` names the answer in the order shown. The scripts in circulation differ in whether `response` and `ranking`
are stored in dataset order or as shown; the texts tell (``ParsedFile.responses_as_shown``), the ranking is never read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.readers import official
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat
from vlrb.verdicts import read_brackets, read_verdict
from vlrb.votes import UNDECIDED

_BETTER = {"1": 0, "A": 0, "2": 1, "B": 1, "EQUAL": TIE}
_IN_TEXT = re.compile(r'"better"\s{0,20}:\s{0,20}"?([0-9a-z]{1,8})\b', re.IGNORECASE)


def _holds_verdict(record: dict[str, Any]) -> bool:
    text = record["meta"].get("filter_choice")
    return isinstance(text, str) and "{" in text and '"better"' in text


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of an Omni-RRM file."""
    official.add_rows(records, parsed, verdict=partial(read_json_verdict, spec=parsed.spec))


def read_json_verdict(text: str, spec: BenchmarkSpec) -> int:
    """Return what a judge's JSON says: its ``final_verdict``, else ``better``; other text is read as any judge's.

    Where its scorer reads no JSON (a code fence, words before it) and the benchmark's format finds nothing, ``better``
    is read from the text, as its inference script does.
    """
    answer = _object(text, 0) if text.lstrip().startswith("{") else None
    if answer is not None:
        final = str(answer.get("final_verdict", ""))
        result = read_brackets(final, ties=False)
        if result != UNDECIDED:
            return result
        if "equal" in final.lower():
            return TIE
        if (result := stated(answer.get("better"))) != UNDECIDED:
            return result
    result = read_verdict(text, spec)
    if result != UNDECIDED or (answer is not None and "better" in answer):
        return result
    match = _IN_TEXT.search(text)
    return stated(match[1]) if match else UNDECIDED


def stated(value: Any) -> int:
    """Return what ``better`` says: 0, 1, TIE or UNDECIDED."""
    return _BETTER.get(str(value).strip().upper()[:8], UNDECIDED)


def holds_json_verdict(text: str) -> bool:
    """Return whether a JSON object with a verdict is in a text, in a code fence or behind words too."""
    start = text.find("{")
    return start >= 0 and _object(text, start) is not None


def _object(text: str, start: int) -> dict[str, Any] | None:
    """Return the JSON object at a place of a text, if it holds a verdict."""
    try:
        answer, _end = json.JSONDecoder().raw_decode(text.lstrip() if not start else text, start)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and ("better" in answer or "final_verdict" in answer) else None


OMNI_RRM = PredictionFormat(
    key="omni-rrm",
    read=read,
    file={"responses_as_shown": True, **official.OFFICIAL.file},
    tool="Omni-RRM",
    fields=official.RECORD_FIELDS,
    only_if=_holds_verdict,  # the judge's text is, or holds, an object with the key ``better``
)
