"""Matched public and hidden parts: alike in category, source, difficulty and length. Pure.

Pairs are ordered by these; every so many go to the hidden part, from a drawn start (systematic sampling). So each
category and source has its share within one pair, and the two parts differ less than random ones would.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

PUBLIC, HIDDEN = "public", "hidden"


def split(pairs: pd.DataFrame, share: float, *, seed: int) -> dict[str, str]:
    """Return id -> PUBLIC or HIDDEN; the hidden part has its share of all pairs.

    ``pairs``: id, category, source, difficulty (share of filter runs that are wrong), words.
    """
    ordered = pairs.sort_values(["category", "source", "difficulty", "words", "id"])["id"]
    size, count = len(pairs), int(len(pairs) * share + 0.5)
    start = int(sha256(str(seed).encode()).hexdigest(), 16) % size
    hidden = [((place + 1) * count + start) // size > (place * count + start) // size for place in range(size)]
    return {name: HIDDEN if chosen else PUBLIC for name, chosen in zip(ordered, hidden, strict=True)}


def balance(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return means of difficulty and words in both parts, and their difference in standard deviations of all pairs;
    nothing where one part is empty. ``pairs``: as `split` takes them, and part."""
    rows = []
    for trait in ("difficulty", "words"):
        means = pairs.groupby("part")[trait].mean()
        if len(means) < 2:
            return []
        public, hidden, deviation = float(means[PUBLIC]), float(means[HIDDEN]), float(pairs[trait].std(ddof=0))
        standardised = (public - hidden) / deviation if deviation else 0.0
        rows.append({"trait": trait, "public": public, "hidden": hidden, "standardised": standardised})
    return rows
