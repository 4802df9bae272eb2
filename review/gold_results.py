"""Results of annotators on gold pairs. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from storage.annotation.pair_decisions import DecidedPair
from vlrb.label_quality.annotation import GOLD, GOLD_MINIMUM, preference_of


class GoldResult(NamedTuple):
    """How an annotator did on gold pairs."""

    answered: int
    right: int

    @property
    def below_minimum(self) -> bool:
        """Return whether fewer are right than an annotator should have."""
        return bool(self.answered) and self.right / self.answered < GOLD_MINIMUM


def gold_results(pairs: Iterable[DecidedPair]) -> dict[str, GoldResult]:
    """Return account -> result, of those who answered gold pairs and were not left out."""
    result: dict[str, GoldResult] = {}
    for pair in pairs:
        for answer in pair.answers if pair.state == GOLD else ():
            before = result.get(answer.account, GoldResult(0, 0))
            right = preference_of(answer.verdict) == preference_of(pair.verdict or "")
            result[answer.account] = GoldResult(before.answered + 1, before.right + right)
    return result
