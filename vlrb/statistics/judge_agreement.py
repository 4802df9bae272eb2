"""Agreement of two judges, in two numbers. Neither depends on the order in which responses are stored. Pure."""

from __future__ import annotations

import numpy as np

from vlrb.arrays import Array, FloatArray
from vlrb.votes import ABSENT, UNDECIDED

_SURE = 1e-12  # chance agreement is complete, or at least one item in n^2 away from it


def agreement_matrix(verdicts: Array) -> FloatArray:
    """Agreement of all pairs, corrected for a random order: (judges, items) verdicts -> (judges, judges).

    (a - e) / (1 - e): a is the share of equal verdicts on the items that both have, e the share expected where the
    order of each item's responses is drawn, so that a judge names either of the two equally often. That is 2a - 1 where
    both decide all items; undecided, and a tie, is one more answer. NaN without an item in common, or where e is 1.
    """
    answers = np.asarray(verdicts)
    present = (answers != ABSENT).astype(np.float64)
    shared = np.maximum(present @ present.T, 1)
    equal, expected = np.zeros_like(shared), np.zeros_like(shared)
    named = np.zeros_like(shared)  # how often either response is named, on the items shared with the other judge only
    for answer in (0, 1, UNDECIDED, *range(2, int(answers.max(initial=1)) + 1)):
        chosen = (answers == answer).astype(np.float64)
        equal += chosen @ chosen.T
        if answer in (0, 1):
            named += chosen @ present.T
        else:
            expected += (chosen @ present.T) * (present @ chosen.T)
    chance = (expected + named * named.T / 2) / shared**2
    undefined = (present @ present.T == 0) | np.isclose(chance, 1.0, rtol=0, atol=_SURE)
    return np.where(undefined, np.nan, (equal / shared - chance) / np.where(undefined, 1.0, 1.0 - chance))


def error_consistency(both_right: float, first_right: float, *, second_right: float, items: int) -> float | None:
    """Error consistency (Geirhos, Meding & Wichmann 2020): whether two judges err on the same items.

    (o - e) / (1 - e): o is the share of items on which both are right or both are wrong, e the share expected of
    independent judges of their accuracies. None where e is 1: one of them is always right, or both always wrong.

    Raises:
        ValueError: no item.
    """
    if not items:
        raise ValueError("no items: there are no errors to compare")
    observed = (items - first_right - second_right + 2 * both_right) / items
    p, q = first_right / items, second_right / items
    expected = p * q + (1 - p) * (1 - q)
    return None if np.isclose(expected, 1.0, rtol=0, atol=_SURE) else (observed - expected) / (1 - expected)
