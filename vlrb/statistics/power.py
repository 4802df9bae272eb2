"""Numbers of pairs that separate two judges, and the smallest gap that so many pairs separate. Pure.

Two judges answer the same pairs, so they are compared by McNemar's test. With the difference of their accuracies d and
the share of pairs on which exactly one is right f, the test has power 1 - b at level a from

    n = (z(1 - a/2) sqrt(f) + z(1 - b) sqrt(f - d^2))^2 / d^2

pairs on (Connor 1987, "Sample size for testing differences in proportions for the paired-sample design", formula 3).
The exact test has a power of .776 to .791 there where .8 is asked for: say "about".
"""

from __future__ import annotations

from math import ceil, sqrt

LEVEL, POWER = 0.05, 0.8
DISCORDANT = (0.10, 0.25)
"""Shares of pairs on which exactly one of two judges is right: of near variants, and of judges of different kinds."""


def pairs_to_separate(difference: float, *, discordant: float) -> int | None:
    """Return the pairs from which on two judges separate with the power of 0.8; None where they are equally good.

    Raises:
        ValueError: fewer pairs are discordant than the accuracies differ.
    """
    gap = abs(difference)
    if gap < 1e-12:
        return None
    if discordant < gap - 1e-12 or discordant > 1:
        raise ValueError("the discordant share lies between the difference of the accuracies and 1")
    from scipy.special import ndtri  # takes a third of a second to import

    rest = max(0.0, discordant - gap**2)
    root = float(ndtri(1 - LEVEL / 2)) * sqrt(discordant) + float(ndtri(POWER)) * sqrt(rest)
    return ceil((root / gap) ** 2 - 1e-9)


def smallest_gap(pairs: int, *, discordant: float) -> float | None:
    """Return the smallest difference of accuracies that so many pairs separate, (z(1 - a/2) + z(1 - b)) sqrt(f / n);
    None where it is more than the share of pairs on which the two differ."""
    from scipy.special import ndtri

    gap = float(ndtri(1 - LEVEL / 2) + ndtri(POWER)) * sqrt(discordant / pairs) if pairs else 1.0
    return gap if gap <= discordant else None
