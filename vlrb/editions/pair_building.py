"""Pairs for checkable questions: a right and a wrong answer of nearly the same length. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

LENGTH_GAP = 0.1


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """An answer to a question. ``right``: None where nobody can tell."""

    endpoint: str
    vote: int
    text: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class BuiltPair:
    """Two answers. ``preferred``: 0 where the first is right and the second wrong; None where both are right."""

    first: CandidateAnswer
    second: CandidateAnswer
    preferred: int | None
    gap: float


def length_gap(first: str, second: str) -> float:
    """Return |l1 - l2| / min(l1, l2) of the numbers of words; infinite where one text has none."""
    words, other = len(first.split()), len(second.split())
    return abs(words - other) / min(words, other) if min(words, other) else float("inf")


def build_pairs(
    answers: Sequence[CandidateAnswer], *, gap: float = LENGTH_GAP, both_right: bool = False, most: int = 1
) -> tuple[list[BuiltPair], Counter[str]]:
    """Return at most so many pairs of one question, the closest lengths first; each answer is used once. Also how often
    two answers made no pair, by reason.

    Both wrong is always dropped: there is nothing to prefer. Two right answers are kept only if ``both_right``: people
    then judge the path.
    """
    possible: list[BuiltPair] = []
    dropped: Counter[str] = Counter()
    for first, second in combinations(answers, 2):
        reason = _reason(first, second, gap=gap, both_right=both_right)
        dropped[reason] += 1
        if not reason:
            ordered = (first, second) if first.right else (second, first)
            preferred = 0 if first.right != second.right else None
            possible.append(BuiltPair(*ordered, preferred, length_gap(first.text, second.text)))
    del dropped[""]
    possible.sort(key=lambda pair: (pair.preferred is None, pair.gap, pair.first.endpoint, pair.second.endpoint))
    used: set[tuple[str, int]] = set()
    chosen: list[BuiltPair] = []
    for pair in possible:
        names = {(answer.endpoint, answer.vote) for answer in (pair.first, pair.second)}
        if len(chosen) < most and not names & used:
            used |= names
            chosen.append(pair)
    return chosen, dropped


def _reason(first: CandidateAnswer, second: CandidateAnswer, *, gap: float, both_right: bool) -> str:
    """Return why two answers make no pair; nothing if they do."""
    if first.right is None or second.right is None:
        return "undecided"
    if not first.right and not second.right:
        return "both_wrong"
    if first.right and second.right and not both_right:
        return "both_right"
    if first.text.split() == second.text.split():
        return "same_text"
    return "" if length_gap(first.text, second.text) < gap else "lengths"
