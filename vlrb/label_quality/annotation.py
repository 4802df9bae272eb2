"""Annotation of pairs by hand: answers, presentation order, agreement, and the label changes that follow. Pure.

A and B are a pair's responses as everybody sees them (``vlrb.benchmarks.items.shown_order``); an annotator sees them
as first and second, in an order that is fixed for annotator and pair and tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

import numpy as np

from vlrb.benchmarks.items import Item, presentation_order
from vlrb.statistics.reliability import cohen_kappa
from vlrb.votes import ABSENT, UNDECIDED

PREFERENCES = ("a", "b")
UNUSABLE = ("both-false", "vague-style", "vague-knowledge", "poor-image", "other")
"""Why a pair has no better response: both are wrong, it is a matter of style or of knowledge, the image is too poor."""
VERDICTS = PREFERENCES + UNUSABLE
DISPUTE_ANSWERS = ("a", "b", "equal", "both-wrong", "bad-item")
"""Answers of a dispute: A, B, no difference, both wrong, or that the pair is unusable."""
DROP = "drop"
AGREED, CONTESTED, OPEN = "agreed", "contested", "open"
"""States of a pair's answers: more than half agree, no majority, fewer than the pair needs."""
GOLD, DECIDED = "gold", "decided"
"""States beside those of the answers: the verdict was known before, and somebody has decided in the file of labels."""
PAIR_STATES = (GOLD, DECIDED, AGREED, CONTESTED, OPEN)

GOLD_MINIMUM = 0.7
"""Share of gold pairs that an annotator should answer as it is known to be right."""


@dataclass(frozen=True, slots=True)
class AnnotationAnswer:
    """An annotator's answer about a pair: one of VERDICTS, and keys of errors of the worse response."""

    verdict: str
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Outcome for an item in a draft: "a" or "b" is preferred, or DROP. ``tags`` None: those of the base."""

    effect: str
    tags: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """State of a pair's answers; the verdict and the tags on which annotators agree."""

    state: str
    verdict: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of two annotators on the ``items`` that both answered. ``kappa`` None where it is undefined."""

    first: str
    second: str
    items: int
    same: int
    kappa: float | None


def annotation_order(number: int, key: str) -> tuple[int, int]:
    """Return which of A (0) and B (1) the annotator with a number sees first and second.

    By hash of the pair, so always the same and even on average; the next annotator sees the other order.
    """
    return (1, 0) if (sha256(key.encode()).digest()[0] + number) % 2 else (0, 1)


def preferred_label(item: Item, effect: str) -> int:
    """Return the stored index of the response that A or B is."""
    return presentation_order(item.responses)[PREFERENCES.index(effect)]


def judge_answers(answers: Sequence[AnnotationAnswer], wanted: int, *, tag_of: Mapping[str, str]) -> JudgedAnswers:
    """Return what follows from the answers about one pair; of a pair to be dropped the commonest reason.

    A or B needs more than half of those who answered, and so does dropping the pair, whatever the reasons. A tag needs
    more than half of those who were for the outcome. ``tag_of``: error -> tag of the benchmark; an error that it lacks
    gives no tag.
    """
    if len(answers) < wanted:
        return JudgedAnswers(OPEN)
    counts = Counter(preference_of(answer.verdict) for answer in answers)
    effect = next((name for name, number in counts.items() if 2 * number > len(answers)), None)
    if effect is None:
        return JudgedAnswers(CONTESTED)
    agreeing = [answer for answer in answers if preference_of(answer.verdict) == effect]
    if effect == DROP:
        return JudgedAnswers(AGREED, Counter(answer.verdict for answer in agreeing).most_common(1)[0][0])
    named = Counter(tag for answer in agreeing for tag in tags_of(answer.errors, tag_of))
    return JudgedAnswers(AGREED, effect, tuple(sorted(tag for tag, n in named.items() if 2 * n > len(agreeing))))


def needs_answer(verdicts: Sequence[str], wanted: int) -> bool:
    """Return whether a pair needs one more answer: it has fewer than wanted, or just so many without a majority."""
    state = judge_answers([AnnotationAnswer(verdict) for verdict in verdicts], wanted, tag_of={}).state
    return state == OPEN or (state == CONTESTED and len(verdicts) == wanted)


def preference_of(verdict: str) -> str:
    """Return A or B, or DROP for all that makes a pair unusable: between these, reasons do not count as differing."""
    return verdict if verdict in PREFERENCES else DROP


def tags_of(errors: Iterable[str], tag_of: Mapping[str, str]) -> frozenset[str]:
    """Return the tags of errors, each once; an error without a tag is passed over."""
    return frozenset(tag_of[error] for error in errors if error in tag_of)


def draft_from_disputes(verdicts: Iterable[tuple[str, str | None]]) -> Proposal | None:
    """Return what follows from the accepted disputes (what is right, error tag) about one item; None where they
    contradict."""
    all_said = list(verdicts)
    effects = {preference_of(better) for better, _ in all_said}
    if len(effects) != 1:
        return None
    return Proposal(effects.pop(), frozenset(tag for _, tag in all_said if tag) or None)


def agreement(answers: Mapping[str, Mapping[str, str]], keys: Sequence[str]) -> tuple[PairAgreement, ...]:
    """Cohen's kappa of every two annotators. ``answers``: annotator -> item key -> verdict.

    All that makes a pair unusable counts as one answer beside A and B, as undecided does between judges.
    """
    rows = {
        name: np.array([_code(verdicts.get(key)) for key in keys], dtype=np.int8)
        for name, verdicts in sorted(answers.items())
    }
    results = []
    for first, second in combinations(rows, 2):
        x, y = rows[first], rows[second]
        both = (x != ABSENT) & (y != ABSENT)
        if both.any():
            same = int((x[both] == y[both]).sum())
            results.append(PairAgreement(first, second, items=int(both.sum()), same=same, kappa=cohen_kappa(x, y)))
    return tuple(results)


def _code(verdict: str | None) -> int:
    if verdict is None:
        return ABSENT
    return PREFERENCES.index(verdict) if verdict in PREFERENCES else UNDECIDED
