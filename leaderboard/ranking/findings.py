"""Findings about one entry: its strongest category, its biases, and what separates it from its neighbours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from leaderboard.ranking.differences import Pair, ScoreDifference, adjust, pair_ids, separable_pairs
from leaderboard.ranking.rows import Bounds
from vlrb.common.messages import _
from vlrb.protocols import category_counts
from vlrb.scorecard import cell_counts, named_counts, share_right
from vlrb.scoring import Tally
from vlrb.statistics.position_bias import PositionBias
from vlrb.statistics.uncertainty import unpaired_bounds, wilson

_LENGTHS = ("longer", "shorter")


@dataclass(frozen=True, slots=True)
class CategoryFinding:
    """The best category, those that it is significantly above, and those that the data cannot tell from it.

    Each is a key and its share; the highest first.
    """

    first: tuple[str, float]
    below: tuple[tuple[str, float], ...]
    level: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class LengthFinding:
    """Accuracy where people prefer the longer answer and where they prefer the shorter one."""

    longer: float
    shorter: float
    difference: ScoreDifference

    @property
    def favoured(self) -> str:
        """The kind of answer that it favours; "" where the data can show none."""
        if not self.difference.separable:
            return ""
        return _("longer") if self.difference.delta > 0 else _("shorter")


@dataclass(frozen=True, slots=True)
class TagFinding:
    """Error tags, the most harmful first, and those on which it is significantly less often right than without."""

    ranked: tuple[tuple[str, float], ...]  # key, share right
    harmful: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeighbourFinding:
    """Entries next to it on the board, by what the paired tests say. In each pair the entry itself is first."""

    ahead_of: tuple[Pair, ...]
    behind: tuple[Pair, ...]
    level: tuple[Pair, ...]


def category_finding(
    shares: Mapping[str, float | None], intervals: Mapping[str, Bounds], *, keys: Sequence[str]
) -> CategoryFinding | None:
    """Return what the categories say; None with fewer than two that have an accuracy.

    Categories are different pairs, so their intervals are compared (Newcombe 1998, method 10), adjusted by Holm for
    the number of comparisons.
    """
    known = [(key, value) for key in keys if (value := shares.get(key)) is not None]
    ranked = sorted(known, key=lambda category: -category[1])
    if len(ranked) < 2:
        return None
    differences = adjust([_difference(first, second, intervals=intervals) for first, second in combinations(ranked, 2)])
    first, *others = ranked
    apart = {one.category for one in differences if one.name == first[0] and one.separable}
    below = tuple(category for category in others if category[0] in apart)
    return CategoryFinding(first, below, level=tuple(category for category in others if category[0] not in apart))


def _difference(
    first: tuple[str, float], other: tuple[str, float], *, intervals: Mapping[str, Bounds]
) -> ScoreDifference:
    """Return the difference of two independent shares; ``name`` is the first's, ``category`` the second's."""
    (name, value), (second, subtracted) = first, other
    low, high = unpaired_bounds(value, subtracted, bounds=intervals.get(name), others=intervals.get(second))
    return ScoreDifference(name, value - subtracted, category=second, low=low, high=high)


def findings_json(
    strict: Mapping[str, Any], *, tally: Tally | None, position_bias: PositionBias | None, keys: Sequence[str]
) -> dict[str, Any]:
    """Return what an entry's page says of it alone, as keys and fractions; null where there is nothing to say.

    ``strict``: its accuracies under the ranking rule, as they are shown. ``tally`` None: no counts are shown.
    """
    category = category_finding(strict, known_intervals(strict), keys=keys)
    length = None if tally is None else length_finding(tally)
    return {
        "category": category
        and {
            "strongest": category.first[0],
            "significantly_above": [key for key, _share in category.below],
            "not_separable_from": [key for key, _share in category.level],
        },
        "length": length
        and {"favours": str(length.favoured) or None, "longer": length.longer, "shorter": length.shorter},
        "position": position_bias and {"favours": position_bias.favours or None, "bias": position_bias.value},
    }


def known_intervals(strict: Mapping[str, Any]) -> dict[str, Bounds]:
    """Return the intervals of these accuracies that are known."""
    return {name: (bounds[0], bounds[1]) for name, bounds in strict["interval"].items() if bounds}


def length_finding(tally: Tally) -> LengthFinding | None:
    """Return what the length of the preferred answer changes; None where either kind of pair is missing."""
    cells = {name: cell_counts(tally, name) for name in _LENGTHS}
    shares = {name: share for name, cell in cells.items() if (share := share_right(cell)) is not None}
    if len(shares) < len(cells):
        return None
    bounds = {name: wilson(shares[name] * cell["n"], cell["n"]) for name, cell in cells.items()}
    intervals = {name: (bound.low, bound.high) for name, bound in bounds.items()}
    longer, shorter = ((name, shares[name]) for name in _LENGTHS)
    return LengthFinding(longer[1], shorter[1], difference=_difference(longer, shorter, intervals=intervals))


def tag_finding(tally: Tally) -> TagFinding | None:
    """Return which errors hurt a judge; None where pairs carry no tags.

    The pairs of a tag are compared with the other pairs of the categories that carry tags, as categories are.
    """
    if not tally.has_tags:
        return None
    spec = tally.spec
    tagged = [row for row, one in zip(category_counts(tally.counts, spec), spec.categories, strict=True) if one.tagged]
    every = named_counts(sum(tagged[1:], tagged[0]).tolist())
    cells = {tag: counts for tag in spec.tags if (counts := cell_counts(tally, tag))["n"]}
    shares = {tag: share for tag, counts in cells.items() if (share := share_right(counts)) is not None}
    differences = []
    for tag, counts in cells.items():
        rest = {name: every[name] - counts[name] for name in counts}
        without = share_right(rest)
        if without is not None:
            bounds = {tag: wilson(shares[tag] * counts["n"], counts["n"]), "": wilson(without * rest["n"], rest["n"])}
            intervals = {name: (bound.low, bound.high) for name, bound in bounds.items()}
            differences.append(_difference((tag, shares[tag]), ("", without), intervals=intervals))
    if not shares:
        return None
    harmful = {one.name for one in adjust(differences) if one.separable and one.delta < 0}
    ranked = tuple(sorted(shares.items(), key=lambda tag: tag[1]))
    return TagFinding(ranked, harmful=tuple(tag for tag, _share in ranked if tag in harmful))


def neighbour_finding(nearest: Sequence[Pair], name: str) -> NeighbourFinding | None:
    """Return what separates an entry from its neighbours in one accuracy (Holm over them); None without neighbours."""
    compared = [(pair, gap) for pair in nearest if (gap := pair.of(name)) is not None]
    if not compared:
        return None
    apart = separable_pairs(nearest, name)
    clear = [(pair, gap.delta > 0) for pair, gap in compared if pair_ids(pair) in apart]
    return NeighbourFinding(
        ahead_of=tuple(pair for pair, leads in clear if leads),
        behind=tuple(pair for pair, leads in clear if not leads),
        level=tuple(pair for pair, _ in compared if pair_ids(pair) not in apart),
    )
