"""Number of pairs that a comparison needs: width of an interval, and pairs until two judges separate. Pure.

Two judges answer the same pairs, so they are compared by McNemar's test. With accuracies p1 and p2, difference d and
share of pairs on which exactly one is right f, the test has power 1 - b at level a from

    n = (z(1 - a/2) sqrt(f) + z(1 - b) sqrt(f - d^2))^2 / d^2

pairs on (Connor 1987, "Sample size for testing differences in proportions for the paired-sample design", formula 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

from scipy.special import ndtri

from vlrb.statistics.uncertainty import wilson


def interval_width(accuracy: float, pairs: int) -> float:
    """Return the width of the 95% Wilson interval of an accuracy on so many pairs."""
    low, high = wilson(accuracy * pairs, pairs)
    return float(high - low)


def pairs_for_width(accuracy: float, width: float) -> int:
    """Return the smallest number of pairs with an interval at most so wide, a share between 0 and 1."""
    low, high = 0, 1
    while interval_width(accuracy, high) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if interval_width(accuracy, middle) > width else (low, middle)
    return high


def pairs_to_separate(
    first: float, second: float, *, discordant: float, level: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the pairs from which on two judges separate with this power; None where they are equally good.

    Raises:
        ValueError: fewer pairs are discordant than the accuracies differ.
    """
    difference = abs(first - second)
    if difference < 1e-12:
        return None
    if discordant < difference - 1e-12 or discordant > 1:
        raise ValueError("the discordant share lies between the difference of the accuracies and 1")
    rest = max(0.0, discordant - difference**2)
    root = float(ndtri(1 - level / 2)) * sqrt(discordant) + float(ndtri(power)) * sqrt(rest)
    return ceil((root / difference) ** 2 - 1e-9)


def neighbours(
    category: str, scores: Mapping[str, float], *, discordant: float | None, power: float = 0.8
) -> Iterator[dict[str, Any]]:
    """Yield, for the judges of a category from the best on, what separates each from the next one.

    Without ``discordant`` they are taken as independent, which has more discordant pairs than real judges have.
    """
    ordered = sorted(scores.items(), key=lambda score: -score[1])
    for (better, high), (worse, low) in pairwise(ordered):
        usual = high * (1 - low) + low * (1 - high)
        share = usual if discordant is None else max(discordant, high - low)
        yield {
            "category": category, "better": better, "worse": worse, "accuracies": (high, low), "discordant": share,
            "pairs": pairs_to_separate(high, low, discordant=share, power=power),
        }  # fmt: skip
