"""Results of annotators on gold pairs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from storage.annotation.annotation_projects import AnnotatorAnswer
from vlrb.label_quality.annotator_agreement import GOLD_MINIMUM, preference_of


class GoldResult(NamedTuple):
    """How an annotator did on gold pairs."""

    answered: int
    right: int

    @property
    def below_minimum(self) -> bool:
        """Return whether fewer are right than an annotator should have."""
        return bool(self.answered) and self.right / self.answered < GOLD_MINIMUM


def gold_results(answers: Iterable[AnnotatorAnswer], gold: Mapping[str, str]) -> dict[str, GoldResult]:
    """Return account -> result, of those who answered gold pairs."""
    result: dict[str, GoldResult] = {}
    for answer in answers:
        if answer.item in gold:
            before = result.get(answer.account, GoldResult(0, 0))
            right = preference_of(answer.verdict) == preference_of(gold[answer.item])
            result[answer.account] = GoldResult(before.answered + 1, before.right + right)
    return result
