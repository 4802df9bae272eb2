"""The Ladder: which of an account's scores are shown, so that trying again and again tells little. Pure.

Blum & Hardt 2015, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions", algorithm 1: a score is
released if it beats the best released one by a step, else the best one stays. Here a score that is not released has no
number at all, and the released number is rounded as the label set's disclosure says instead of to the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmark.disclosure import OVERALL_ONLY, STEPS
from common.messages import _

NOT_SHOWN = _("not better than this account's best by the margin")
_SLACK = 1e-9  # 0.715 beats 0.7 by 0.015, whatever floats say
_STEPS = {OVERALL_ONLY: STEPS}  # disclosure level -> steps in which a score is shown
_DEFAULT_STEPS = 1000


class Try(NamedTuple):
    """A score of an account: ``score`` as a fraction, rounded as it would be shown; None where nothing was counted.

    ``margin``: by how much it has to beat the best score shown before, by the rules that it was submitted under; None
    where these have no such rule.
    """

    score: float | None
    margin: float | None


def shown(tries: Sequence[Try]) -> list[bool]:
    """Return for each of an account's tries, in the order in which they were submitted, whether its score is shown.

    A score that is not shown changes nothing for later ones. Which are shown depends on the scores and their order
    alone, not on when they were counted.
    """
    best: float | None = None
    released = []
    for attempt in tries:
        beats = (
            attempt.margin is None
            or best is None
            or attempt.score is None
            or attempt.score - best >= attempt.margin - _SLACK
        )
        released.append(beats)
        if beats and attempt.score is not None:
            best = attempt.score if best is None else max(best, attempt.score)
    return released


def rounded(score: float, level: str) -> float:
    """Return a score as a disclosure level shows it: to half a point where the overall alone is shown, else to 0.1."""
    steps = _STEPS.get(level, _DEFAULT_STEPS)
    return round(score * steps) / steps
