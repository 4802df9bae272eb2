"""Matched public and hidden parts: alike in category, source, difficulty and length. Pure.

Within a category and source, pairs are ordered by difficulty and length; every so many go to the hidden part, from a
random start. So the two parts differ less than random ones would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import fmean, pstdev

PUBLIC, HIDDEN = "public", "hidden"


@dataclass(frozen=True, slots=True)
class SplitTraits:
    """What a split is matched by. ``difficulty``: share of filter runs that are wrong."""

    id: str
    category: str
    source: str
    difficulty: float
    words: int


@dataclass(frozen=True, slots=True)
class TraitBalance:
    """Means of a trait in both parts, and their difference in standard deviations of all pairs."""

    trait: str
    public: float
    hidden: float
    standardised: float


def split(pairs: Sequence[SplitTraits], hidden_share: float, *, seed: int) -> dict[str, str]:
    """Return id -> PUBLIC or HIDDEN; the hidden part has the share of every category and source, within one pair."""
    strata: dict[tuple[str, str], list[SplitTraits]] = defaultdict(list)
    for pair in pairs:
        strata[pair.category, pair.source].append(pair)
    parts = {}
    for key in sorted(strata):
        start = int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:7], "big") / 2**56
        ordered = sorted(strata[key], key=lambda pair: (pair.difficulty, pair.words, pair.id))
        for place, pair in enumerate(ordered):
            chosen = int((place + 1) * hidden_share + start) > int(place * hidden_share + start)
            parts[pair.id] = HIDDEN if chosen else PUBLIC
    return parts


def balance(pairs: Sequence[SplitTraits], parts: dict[str, str]) -> list[TraitBalance]:
    """Return how far the two parts differ in difficulty and words; nothing where one part is empty."""
    traits: dict[str, Callable[[SplitTraits], float]] = {
        "difficulty": lambda pair: pair.difficulty,
        "words": lambda pair: pair.words,
    }
    trait_balances = []
    for name, value in traits.items():
        groups = {part: [value(pair) for pair in pairs if parts[pair.id] == part] for part in (PUBLIC, HIDDEN)}
        if not all(groups.values()):
            return []
        deviation = pstdev([value(pair) for pair in pairs])
        public, hidden = fmean(groups[PUBLIC]), fmean(groups[HIDDEN])
        trait_balances.append(TraitBalance(name, public, hidden, (public - hidden) / deviation if deviation else 0.0))
    return trait_balances
