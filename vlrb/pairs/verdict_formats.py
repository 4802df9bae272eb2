"""Judges' texts become verdicts, each benchmark by its own format: 0, 1, TIE or UNREADABLE, in the order shown.

* ``double-brackets``: ``[[A]]`` anywhere in the text is A, else ``[[B]]`` is B, else (with ties) ``[[C]]`` is a tie.
  This is the rule of Multimodal RewardBench's scorer.
* ``answer-tag``: ``<answer>1</answer>`` or ``2``, as R1-Reward asks for it; without the tag, double brackets.
* ``official-sentence``: the sentence of VL-RewardBench (vlrb/verdicts.py).
"""

from __future__ import annotations

import json
import re
from typing import Any

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.verdicts import FIRST, SECOND, verdict
from vlrb.votes import UNDECIDED as UNREADABLE

_ANSWER = re.compile(r"<answer>\s*([^<]{0,40}?)\s*</answer>")
_NUMBERS = {"1": 0, "2": 1}
_BETTER = {"1": 0, "A": 0, "2": 1, "B": 1, "EQUAL": TIE}
_BETTER_IN_TEXT = re.compile(r'"better"\s{0,20}:\s{0,20}("?)(A|B|equal)\1\s{0,20}(?=[,}\n]|$)', re.IGNORECASE)


def read_verdict(text: str, spec: BenchmarkSpec) -> int:
    """Return what a judge's text says about the responses in the order shown."""
    if spec.verdict_format == "official-sentence":
        result = verdict(text)
        return result - FIRST if result in (FIRST, SECOND) else UNREADABLE
    if spec.verdict_format == "answer-tag" and (tag := _ANSWER.search(text)):
        return _NUMBERS.get(tag.group(1), UNREADABLE)
    return _brackets(text, spec.ties)


def read_json_verdict(text: str, spec: BenchmarkSpec) -> int:
    """Return what Omni-RRM's JSON says: its ``final_verdict``, else ``better``; other text is read as any judge's.

    Where its scorer reads no JSON (a code fence, words before it) and finds no brackets, ``better`` is read from the
    text, as its inference script does. That neither response is better is a TIE, which is a readable verdict.
    """
    answer = json_verdict(text)
    if answer is not None:
        final = str(answer.get("final_verdict", ""))
        result = _brackets(final, ties=False)
        if result != UNREADABLE:
            return result
        if "equal" in final.lower():
            return TIE
        better = str(answer.get("better", "")).strip().upper()
        if better in _BETTER:
            return _BETTER[better]
    result = read_verdict(text, spec)
    return result if result != UNREADABLE else _within_text(text)


def read_stated_verdict(value: Any) -> int:
    """Return the verdict that Omni-RRM's inference script has stored as ``PredBetter``."""
    return _BETTER.get(value.strip().upper(), UNREADABLE) if isinstance(value, str) else UNREADABLE


def _within_text(text: str) -> int:
    match = _BETTER_IN_TEXT.search(text)
    return _BETTER[match[2].upper()] if match else UNREADABLE


def holds_json_verdict(text: str) -> bool:
    """Return whether a JSON object with a verdict is in a text, in a code fence or behind words too."""
    start = text.find("{")
    if start < 0:
        return False
    try:
        answer, _end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return _has_verdict(answer)


def json_verdict(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, if it holds a verdict."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return answer if _has_verdict(answer) else None


def _has_verdict(answer: Any) -> bool:
    return isinstance(answer, dict) and ("better" in answer or "final_verdict" in answer)


def _brackets(text: str, ties: bool) -> int:
    if "[[A]]" in text:
        return 0
    if "[[B]]" in text:
        return 1
    return TIE if ties and "[[C]]" in text else UNREADABLE
