"""Verdict of a judge's text: first shown, second shown, or undecided. Linear time, never a guess.

The official pattern (vl-rewardbench/VL_RewardBench, inference_hf.py), case-insensitive, on the text without newlines
and asterisks, is two words that announce a verdict, anything, and the verdict itself:
``(?:Overall Judgment|Therefore)\\s*.*\\s*-*\\s*Answer\\s*(\\d+)\\s*is\\s*(?:the\\s*)?(?:slightly\\s*)?better``.
It is greedy and backtracks in about O(n^4). Its meaning is: the LAST "Answer N is better" after the FIRST trigger,
which one search from the left and one from the right find as well. (``.`` does not match a newline, but newlines are
gone by then.)

The two differences: a number other than 1 or 2 is undecided, where the official script counts it as agreement; and so
is one in the digits of another alphabet, which that script reads as ours.

Other benchmarks have their judges answer by other formats:

* ``double-brackets``: ``[[A]]`` anywhere in the text is A, else ``[[B]]`` is B, else (with ties) ``[[C]]`` is a tie.
  This is the rule of Multimodal RewardBench's scorer.
* ``answer-tag``: ``<answer>1</answer>`` or ``2``, as R1-Reward asks for it; without the tag, double brackets.
"""

from __future__ import annotations

import re

from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.votes import UNDECIDED

_TRIGGERS = ("overall judgment", "therefore")
_TAIL = re.compile(r"Answer\s*(\d+)\s*is\s*(?:the\s*)?(?:slightly\s*)?better", re.IGNORECASE)
# The only characters outside ASCII that re.IGNORECASE takes for a letter of the pattern. One of them also changes
# its length in lower(), which would shift positions; so they are folded one to one before.
_FOLDED = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"))
_ANSWER = re.compile(r"<answer>\s*([^<]{0,40}?)\s*</answer>")
_NUMBERS = {"1": 0, "2": 1}


def read_verdict(text: str, spec: BenchmarkSpec) -> int:
    """Return what a judge's text says by a benchmark's format: 0, 1, TIE or UNDECIDED of the votes, in the order
    shown."""
    if spec.verdict_format == "official-sentence":
        return choice_of(text)
    if spec.verdict_format == "answer-tag" and (tagged := read_tag(text)) is not None:
        return tagged
    return read_brackets(text, ties=spec.ties)


def read_tag(text: str) -> int | None:
    """Return what an answer tag says: 0, 1, or UNDECIDED of the votes; None where there is no tag."""
    tag = _ANSWER.search(text)
    return _NUMBERS.get(tag.group(1), UNDECIDED) if tag else None


def read_brackets(text: str, *, ties: bool) -> int:
    """Return what double brackets say: 0, 1, with ``ties`` TIE, or UNDECIDED of the votes."""
    if "[[A]]" in text:
        return 0
    if "[[B]]" in text:
        return 1
    return TIE if ties and "[[C]]" in text else UNDECIDED


def choice_of(text: str) -> int:
    """Return what a text says by the official pattern: 0 or 1, the answer in the order shown, or UNDECIDED."""
    clean = text.replace("\n", "").replace("*", "")
    folded = clean
    for letter, plain in () if clean.isascii() else _FOLDED:
        folded = folded.replace(letter, plain)
    lower = folded.lower()
    ends = [start + len(trigger) for trigger in _TRIGGERS if (start := lower.find(trigger)) >= 0]
    if not ends:
        return UNDECIDED
    first_trigger_end = min(ends)
    stop = len(lower)
    while (start := lower.rfind("answer", first_trigger_end, stop)) >= 0:
        if tail := _TAIL.match(clean, start):
            # Digits other than 1 and 2 in ASCII are a verdict too, the last one, but on no answer.
            return _NUMBERS.get(tail.group(1).lstrip("0"), UNDECIDED)
        stop = start + len("answer") - 1
    return UNDECIDED
