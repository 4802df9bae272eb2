"""Verdict of a judge's text: first shown, second shown, or undecided. Linear time, never a guess.

The official pattern (vl-rewardbench/VL_RewardBench, inference_hf.py), case-insensitive, on the text without newlines
and asterisks, is two words that announce a verdict, anything, and the verdict itself:
``(?:Overall Judgment|Therefore)\\s*.*\\s*-*\\s*Answer\\s*(\\d+)\\s*is\\s*(?:the\\s*)?(?:slightly\\s*)?better``.
It is greedy and backtracks in about O(n^4). Its meaning is: the LAST "Answer N is better" after the FIRST trigger,
which one search from the left and one from the right find as well. (``.`` does not match a newline, but newlines are
gone by then.)

The two differences: a number other than 1 or 2 is undecided, where the official script counts it as agreement; and so
is one in the digits of another alphabet, which that script reads as ours.
"""

from __future__ import annotations

import re

UNDECIDED, FIRST, SECOND = 0, 1, 2

_TRIGGERS = ("overall judgment", "therefore")
_TAIL = re.compile(r"Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE)
# The only characters outside ASCII that re.IGNORECASE takes for a letter of the pattern. One of them also changes
# its length in lower(), which would shift positions; so they are folded one to one before.
_FOLD = str.maketrans("\u0130\u0131\u017f", "iis")


def verdict(text: str) -> int:
    """FIRST, SECOND or UNDECIDED: what the text says about the answers in the order they were shown."""
    clean = text.replace("\n", "").replace("*", "")
    lower = clean.lower() if clean.isascii() else clean.translate(_FOLD).lower()
    ends = [start + len(trigger) for trigger in _TRIGGERS if (start := lower.find(trigger)) >= 0]
    if not ends:
        return UNDECIDED
    first_trigger_end = min(ends)
    stop = len(lower)
    while (start := lower.rfind("answer", first_trigger_end, stop)) >= 0:
        if tail := _TAIL.match(clean, start):
            return _shown_position(tail.group(1))
        stop = start + len("answer") - 1
    return UNDECIDED


def _shown_position(digits: str) -> int:
    """Return the number if it is 1 or 2 in ASCII; other digits are a verdict too, the last one, but on no answer."""
    return {"1": FIRST, "2": SECOND}.get(digits.lstrip("0"), UNDECIDED)
