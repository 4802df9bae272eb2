"""Matched public and hidden parts: alike in category, source, difficulty and length. Pure.

Pairs are ordered by these; every so many go to the hidden part (systematic sampling). So each
category and source has its share within one pair, and the two parts differ less than random ones would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

PUBLIC, HIDDEN = "public", "hidden"


def split(pairs: pd.DataFrame, share: float) -> dict[str, str]:
    """Return id -> PUBLIC or HIDDEN; the hidden part has its share of all pairs.

    ``pairs``: id, category, source, difficulty (share of filter runs that are wrong), words.
    """
    ordered = pairs.sort_values(["category", "source", "difficulty", "words", "id"])["id"]
    size, count = len(pairs), int(len(pairs) * share + 0.5)
    middle = size // 2  # where the first one of a step would be the lowest of its neighbours
    hidden = [((place + 1) * count + middle) // size > (place * count + middle) // size for place in range(size)]
    return {name: HIDDEN if chosen else PUBLIC for name, chosen in zip(ordered, hidden, strict=True)}
