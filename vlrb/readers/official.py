"""Official scripts of VL-RewardBench and Multimodal RewardBench, and Omni-RRM, whose judge answers both in JSON.

* VL-RewardBench (`inference_hf.py`, and the older `inference.py`): K lines an item, in any order. The text counts
  (`cal.py` re-parses it); the stored number and flag, and the ranking, are never read. A line may be wrapped as
  ``{"0": {...}}``, and null lines are passed over, as `cal.py` does.
* Multimodal RewardBench: ``{"ID", "Label", "output" or "outputs", "Meta"}``. A was shown first, as stored. `Label` and
  the category are never read.
* tmfk418/Omni-RRM: ``{"better": 1 | 2 | "A" | "B" | "equal"}`` names the answer in the order shown, and `PredBetter` is
  what the tool has read from that. Its scripts in circulation differ in whether `response` and `ranking` are stored in
  dataset order or as shown; the texts tell (``ParsedFile.responses_as_shown``), the ranking is never read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip, own_responses
from vlrb.verdicts import choice_of, read_brackets, read_verdict
from vlrb.votes import UNDECIDED

_REPLY_FIELD = "meta.filter_choice"
_RECORD_FIELDS = ((_REPLY_FIELD, "meta.random_number"),)
_FILE = {"one_vote_a_row": True, "reply_field": _REPLY_FIELD}
_FAILED = "None"  # the script of Multimodal RewardBench writes it after nine tries
_BETTER = {"1": 0, "A": 0, "2": 1, "B": 1, "EQUAL": TIE}
_IN_TEXT = re.compile(r'"better"\s{0,20}:\s{0,20}"?([0-9a-z]{1,8})\b', re.IGNORECASE)


def read(records: Iterable[FieldReader], parsed: ParsedFile, *, verdict: Callable[[str, BenchmarkSpec], int]) -> None:
    """Add the rows of an official file. ``verdict``: what a judge's text says about the answers as shown."""
    known: dict[tuple[str, str], tuple[str, str]] = {}  # keeps one copy of texts that come K times
    for fields in records:
        fields.require_id()
        query, responses = fields.text("query"), fields.pair("response")
        text, swapped = _meta(fields)
        if fields.ok:
            responses = known.setdefault(responses, responses)
            choice = flip(verdict(text, parsed.spec), swapped)
            parsed.add(PredictionRow(fields.line, (choice,), (swapped,), fields.id, query, responses), (text,))


def _meta(fields: FieldReader) -> tuple[str, int]:
    """Return the judge's text, and 1 where the responses were shown in reverse."""
    meta = fields.record.get("meta")
    if not isinstance(meta, dict):
        fields.wrong("meta", meta, wanted=_("an object"), missing=meta is None)
        return "", 0
    text, swapped = fields.text("filter_choice", _REPLY_FIELD, where=meta), meta.get("random_number")
    wanted = _("0 (order as stored) or 1 (swapped)")
    return text, fields.order_flag(swapped, "meta.random_number", wanted=wanted, types=(int,))


def _holds_verdict(record: dict[str, Any]) -> bool:
    text = record["meta"].get("filter_choice")
    return isinstance(text, str) and "{" in text and '"better"' in text


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
        if (result := _stated(answer.get("better"))) != UNDECIDED:
            return result
    result = read_verdict(text, spec)
    if result != UNDECIDED or (answer is not None and "better" in answer):
        return result
    match = _IN_TEXT.search(text)
    return _stated(match[1]) if match else UNDECIDED


def _stated(value: Any) -> int:
    """Return what ``better`` says: 0, 1, TIE or UNDECIDED."""
    return _BETTER.get(str(value).strip().upper()[:8], UNDECIDED)


def _holds_json_verdict(text: str) -> bool:
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


def read_multimodal(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of an official file."""
    spec = parsed.spec
    for fields in records:
        record = fields.record
        fields.require_id()
        texts = _texts(fields)
        if not fields.ok:
            continue
        if "PredBetter" in record or any(map(_holds_json_verdict, texts)):
            parsed.format = OMNI_RRM.key
        for _failure in range(texts.count(_FAILED)):
            parsed.mark_failed(_FAILED)
        choices = [read_json_verdict(text, spec) for text in texts]
        if choices == [UNDECIDED]:
            choices = [_stated(record.get("PredBetter"))]
        responses = own_responses(record.get("Meta"), spec) or own_responses(record, spec)
        row = PredictionRow(fields.line, choices, [0] * len(choices), fields.id, responses=responses)
        parsed.add(row, texts)


def _texts(fields: FieldReader) -> list[str]:
    """Return the judge's texts; one that is null is empty."""
    record = fields.record
    several = "outputs" in record and "output" not in record
    holders = [{"output": text} for text in fields.votes(record["outputs"], "outputs")] if several else [record]
    return ["" if holder.get("output", "") is None else fields.text("output", where=holder) for holder in holders]


OFFICIAL = PredictionFormat(
    key="official",
    read=partial(read, verdict=lambda text, _spec: choice_of(text)),
    file=_FILE,
    fields=_RECORD_FIELDS,
    name="official script",
    tool="The official script",
    upload="the JSONL that `inference_hf.py` writes (K lines a pair)",
    command="python inference_hf.py",
    note=(
        "in the [benchmark's repository](https://github.com/vl-rewardbench/VL_RewardBench). Upload the JSONL "
        "that it leaves in the working directory, with K lines for each pair. Its name has no K: another run "
        "of the same model on the same day overwrites it."
    ),
    verdict_formats=("official-sentence",),
)
OMNI_RRM = PredictionFormat(
    key="omni-rrm",
    read=partial(read, verdict=read_json_verdict),
    file={"responses_as_shown": True, **_FILE},
    tool="Omni-RRM",
    fields=_RECORD_FIELDS,
    only_if=_holds_verdict,  # the judge's text is, or holds, an object with the key ``better``
)
MULTIMODAL = PredictionFormat(
    key="official",
    read=read_multimodal,
    file={"text_field": "Meta", "reply_field": "output"},
    fields=(("ID",), ("output", "outputs")),
    tool="Multimodal RewardBench's script",
    upload="the file as written, with one output or several",
    command='{"ID": "…", "Label": "A", "output": "… [[A]]", "Meta": {}}',
    note="`[[A]]` in the text is for the response stored first, else `[[B]]` is for the other. `Label` is not read.",
    name="official script",
    verdict_formats=("double-brackets", "answer-tag"),
)
