"""Pairs for checkable questions: a right and a wrong answer of nearly the same length. Pure."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class BuildCounts:
    """Why combinations of answers became no pairs."""

    both_wrong: int
    both_right: int
    undecided: int
    lengths: int
    same_text: int


def length_gap(first: str, second: str) -> float:
    """Return |l1 - l2| / min(l1, l2) of the numbers of words; infinite where one text has none."""
    first_words, other = len(first.split()), len(second.split())
    return abs(first_words - other) / min(first_words, other) if min(first_words, other) else float("inf")


def build_pairs(
    answers: Sequence[CandidateAnswer], *, gap: float = LENGTH_GAP, both_right: bool = False, most: int = 1
) -> tuple[list[BuiltPair], BuildCounts]:
    """Return at most so many pairs of one question, the closest lengths first; each answer is used once.

    Both wrong is always dropped: there is nothing to prefer. Two right answers are kept only if ``both_right``: people
    then judge the path.
    """
    possible: list[BuiltPair] = []
    dropped = {"both_wrong": 0, "both_right": 0, "undecided": 0, "lengths": 0, "same_text": 0}
    for first, second in combinations(answers, 2):
        reason = _reason(first, second, gap=gap, both_right=both_right)
        if reason:
            dropped[reason] += 1
            continue
        ordered = (first, second) if first.right else (second, first)
        preferred = 0 if first.right != second.right else None
        possible.append(BuiltPair(*ordered, preferred, length_gap(first.text, second.text)))
    possible.sort(key=lambda pair: (pair.preferred is None, pair.gap, pair.first.endpoint, pair.second.endpoint))
    return _disjoint(possible, most), BuildCounts(**dropped)


def _reason(first: CandidateAnswer, second: CandidateAnswer, *, gap: float, both_right: bool) -> str | None:
    """Return why two answers make no pair; None if they do."""
    if first.right is None or second.right is None:
        return "undecided"
    if not first.right and not second.right:
        return "both_wrong"
    if first.right and second.right and not both_right:
        return "both_right"
    if " ".join(first.text.split()) == " ".join(second.text.split()):
        return "same_text"
    return None if length_gap(first.text, second.text) < gap else "lengths"


def _disjoint(possible: Sequence[BuiltPair], most: int) -> list[BuiltPair]:
    used: set[tuple[str, int]] = set()
    chosen: list[BuiltPair] = []
    for pair in possible:
        names = {(answer.endpoint, answer.vote) for answer in (pair.first, pair.second)}
        if len(chosen) < most and not names & used:
            used |= names
            chosen.append(pair)
    return chosen
