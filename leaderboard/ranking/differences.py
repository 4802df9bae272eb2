"""Differences of two results over parts of a benchmark, and p values adjusted for their number. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

from leaderboard.ranking.rows import BoardRow
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.rounding import points
from vlrb.statistics.power import DISCORDANT, smallest_gap
from vlrb.statistics.uncertainty import ALPHA, Z, holm


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """First entry minus second, over one part of the benchmark, as fractions. None: not known, or no count."""

    name: str
    delta: float
    category: str = ""  # of the part, "" for overall numbers
    n: int | None = None
    only_first: int | None = None
    only_second: int | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None  # by Holm, among those of its table
    implied: float | None = None  # the same where there is no p to show, from the interval
    of_source: bool = False
    title: str = ""  # as a heading

    @property
    def separable(self) -> bool:
        """Whether chance alone is an unlikely explanation (5%), however many differences its table has."""
        adjusted = self.implied if self.p_adjusted is None else self.p_adjusted
        if adjusted is not None:
            return adjusted < ALPHA
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries. ``reason``: why they were not compared pair by pair; "" if they were. ``differences``: macro and
    overall, then the others, the clearest first; none where the entries cannot be compared at all."""

    first: BoardRow
    second: BoardRow
    reason: str
    differences: tuple[ScoreDifference, ...]
    spec: BenchmarkSpec

    @property
    def paired(self) -> bool:
        """Whether the counts behind this are of the same items."""
        return not self.reason

    @property
    def names(self) -> tuple[str, str]:
        """What tells the two apart: the model, with the version or the source where the models are the same."""
        first, second = self.first, self.second
        if first.model != second.model:
            return first.model, second.model
        named = tuple(f"{row.model} ({row.version or row.source or row.id})" for row in (first, second))
        return (named[0], named[1]) if len(set(named)) == 2 else (f"{named[0]}, {first.id}", f"{named[1]}, {second.id}")

    @property
    def whole(self) -> tuple[ScoreDifference, ...]:
        """Macro, overall and the categories."""
        return tuple(difference for difference in self.differences if not difference.of_source)

    @property
    def sources(self) -> tuple[ScoreDifference, ...]:
        """The sources."""
        return tuple(difference for difference in self.differences if difference.of_source)

    def of(self, name: str) -> ScoreDifference | None:
        """Return the difference over one part."""
        return next((difference for difference in self.differences if difference.name == name), None)


def pair_ids(pair: Pair) -> frozenset[str]:
    """Return the ids of its entries."""
    return frozenset((pair.first.id, pair.second.id))


def separable_pairs(pairs: Sequence[Pair], name: str) -> frozenset[frozenset[str]]:
    """Return the ids of each two entries that differ on one part; p values adjusted by Holm for the number of pairs."""
    known = [(pair_ids(pair), difference) for pair in pairs if (difference := pair.of(name)) is not None]
    adjusted = adjust([difference for _, difference in known])
    return frozenset(user for (user, _), difference in zip(known, adjusted, strict=True) if difference.separable)


def adjust(table: Sequence[ScoreDifference]) -> list[ScoreDifference]:
    """Return the differences of one table, p values adjusted for their number (Holm); implied ones are never shown."""
    known = [_implied(difference) if difference.p is None else difference.p for difference in table]
    adjusted = iter(holm([p for p in known if p is not None]).tolist())
    return [
        difference
        if p is None
        else replace(difference, **{"implied" if difference.p is None else "p_adjusted": next(adjusted)})
        for difference, p in zip(table, known, strict=True)
    ]


def _implied(score_difference: ScoreDifference) -> float | None:
    """Return the p value of a normal deviate whose interval ends where this one does, on the side of 0."""
    if score_difference.low is None or score_difference.high is None:
        return None
    side = (
        score_difference.delta - score_difference.low
        if score_difference.delta > 0
        else score_difference.high - score_difference.delta
    )
    return erfc(Z * abs(score_difference.delta) / max(side, 1e-12) / sqrt(2))


def edition_gaps(pairs: int) -> list[tuple[str, str]]:
    """Return (share of pairs on which two judges differ, smallest gap in points that so many pairs separate)."""
    known = [(share, smallest_gap(pairs, discordant=share)) for share in DISCORDANT]
    return [(f"{share:.0%}", points(gap)) for share, gap in known if gap is not None]
