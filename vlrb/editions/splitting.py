"""Matched public and hidden parts: alike in category, source, difficulty and length. Pure.

Within a category and source, pairs are ordered by difficulty and length; every so many go to the hidden part, from a
random start. So the two parts differ less than random ones would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
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
    """Return id -> PUBLIC or HIDDEN; the hidden part has its share of all pairs, and of every category and source.

    A category of two pairs or more has pairs in both parts, unless a part is too small to hold one of each.
    """
    categories: dict[str, list[SplitTraits]] = defaultdict(list)
    for pair in pairs:
        categories[pair.category].append(pair)
    total = int(len(pairs) * hidden_share + 0.5)
    sizes = {name: len(held) for name, held in categories.items()}
    counts = _apportioned(sizes, hidden_share, total=total, seed=seed, both_parts=True)
    parts: dict[str, str] = {}
    for name, held in categories.items():
        parts |= _split_category(held, hidden_share, hidden=counts[name], seed=seed)
    return parts


def _split_category(pairs: Sequence[SplitTraits], share: float, *, hidden: int, seed: int) -> dict[str, str]:
    sources: dict[str, list[SplitTraits]] = defaultdict(list)
    for pair in pairs:
        sources[pair.source].append(pair)
    counts = _apportioned({name: len(held) for name, held in sources.items()}, share, total=hidden, seed=seed)
    parts = {}
    for name, held in sources.items():
        ordered = sorted(held, key=lambda pair: (pair.difficulty, pair.words, pair.id))
        size, count = len(held), counts[name]
        start = _drawn(seed, f"{pairs[0].category}:{name}") % size
        for place, pair in enumerate(ordered):
            chosen = ((place + 1) * count + start) // size > (place * count + start) // size
            parts[pair.id] = HIDDEN if chosen else PUBLIC
    return parts


def _apportioned(
    sizes: Mapping[str, int], share: float, *, total: int, seed: int, both_parts: bool = False
) -> dict[str, int]:
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
        trait_balances.append(
            TraitBalance(name, public, hidden=hidden, standardised=(public - hidden) / deviation if deviation else 0.0)
        )
    return trait_balances
