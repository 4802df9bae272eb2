"""Judges' texts become verdicts, each benchmark by its own format: 0, 1, TIE or UNREADABLE, in the order shown.

* ``double-brackets``: ``[[A]]`` anywhere in the text is A, else ``[[B]]`` is B, else (with ties) ``[[C]]`` is a tie.
  This is the rule of Multimodal RewardBench's scorer.
* ``answer-tag``: ``<answer>1</answer>`` or ``2``, as R1-Reward asks for it; without the tag, double brackets.
* ``official-sentence``: the sentence of VL-RewardBench (benchmark/verdicts.py).
"""

from __future__ import annotations

import json
import re
from typing import Any

from benchmark.spec import TIE, BenchmarkSpec
from benchmark.verdicts import FIRST, SECOND, verdict
from benchmark.votes import UNDECIDED as UNREADABLE

_ANSWER = re.compile(r"<answer>\s*([^<]{0,40}?)\s*</answer>")
_NUMBERS = {"1": 0, "2": 1}
_BETTER = {"1": 0, "A": 0, "2": 1, "B": 1, "EQUAL": TIE}


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

    That neither response is better is a TIE, which is a readable verdict.
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
    return read_verdict(text, spec)


def json_verdict(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, if it holds a verdict."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and ("better" in answer or "final_verdict" in answer) else None


def _brackets(text: str, ties: bool) -> int:
    if "[[A]]" in text:
        return 0
    if "[[B]]" in text:
        return 1
    return TIE if ties and "[[C]]" in text else UNREADABLE
