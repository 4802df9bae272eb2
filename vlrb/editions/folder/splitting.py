"""Matched public and hidden parts: alike in category, source, difficulty and length. Pure.

Within a category and source, pairs are ordered by difficulty and length; every so many go to the hidden part, from a
random start. So the two parts differ less than random ones would.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

PUBLIC, HIDDEN = "public", "hidden"


def split(pairs: pd.DataFrame, share: float, *, seed: int) -> dict[str, str]:
    """Return id -> PUBLIC or HIDDEN; the hidden part has its share of all pairs, and of every category and source.

    ``pairs``: id, category, source, difficulty (share of filter runs that are wrong), words. A category of two pairs or
    more has pairs in both parts, unless a part is too small to hold one of each.
    """
    total = int(len(pairs) * share + 0.5)
    categories = _apportioned(_sizes(pairs, "category"), share, total=total, seed=seed, both_parts=True)
    parts: dict[str, str] = {}
    for category, held in pairs.groupby("category"):
        counts = _apportioned(_sizes(held, "source"), share, total=categories[category], seed=seed)
        for source, group in held.groupby("source"):
            size, count = len(group), counts[source]
            start = _drawn(seed, f"{category}:{source}") % size
            for place, name in enumerate(group.sort_values(["difficulty", "words", "id"])["id"]):
                chosen = ((place + 1) * count + start) // size > (place * count + start) // size
                parts[name] = HIDDEN if chosen else PUBLIC
    return parts


def _sizes(pairs: pd.DataFrame, trait: str) -> dict[Any, int]:
    return {name: int(size) for name, size in pairs[trait].value_counts().items()}


def _apportioned(
    sizes: Mapping[Any, int], share: float, *, total: int, seed: int, both_parts: bool = False
) -> dict[Any, int]:
    """Return how many of each group are hidden, so many in total; the group that lacks most gets the next one."""
    several = [name for name, size in sizes.items() if size > 1] if both_parts else []
    hidden_first = several if len(several) <= total else []
    public_last = several if len(several) <= sum(sizes.values()) - total else []
    counts = {name: int(name in hidden_first) for name in sizes}
    most = {name: size - (name in public_last) for name, size in sizes.items()}
    ties = {name: _drawn(seed, name) for name in sizes}
    for _ in range(total - sum(counts.values())):
        open_groups = (name for name in sizes if counts[name] < most[name])
        counts[max(open_groups, key=lambda name: (round(sizes[name] * share - counts[name], 9), ties[name]))] += 1
    return counts


def _drawn(seed: int, name: str) -> int:
    return int.from_bytes(sha256(f"{seed}:{name}".encode()).digest()[:7], "big")


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
