"""Rank and rank range of a row in a given order.

Ranks are of judges: the best version of each is ranked. The ranges of a snapshot (vlrb.statistics.pairwise) are
positions among the judges that were tested. They are converted to board ranks: best rank = rank of the judge at the
upper end, worst = at the lower end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.rounding import units
from vlrb.statistics.pairwise import RankRange

FEW_RANKS = 5
"""A range of so many ranks and a quarter of the judges, or more, stands on an entry's page and in JSON alone."""


class RankInfo(NamedTuple):
    """``rank`` is shared by equals. ``best`` and ``worst`` are None where nothing was tested."""

    rank: int
    best: int | None = None
    worst: int | None = None
    level: bool = False  # could be first, without having its rank
    band: int | None = None  # the rank at the top of the band that it shares with others
    wide: bool = False  # whether the range holds so many of the judges that it tells little

    @property
    def shares_first(self) -> bool:
        """Whether it is first, or could be."""
        return self.rank == 1 or self.level

    @property
    def range(self) -> str:
        """Its ranks as people see them; empty for one, for so many that they tell little, and for a first place that
        nobody shares: who could be first is tested by itself, which tells more than all ranks at once."""
        alone = self.rank == 1 and not self.band
        return "" if self.best == self.worst or self.wide or alone else f"{self.best}–{self.worst}"


def order_of(sort: str, spec: BenchmarkSpec) -> str:
    """Return which accuracy ranks follow when the board is ordered by a column: its own, or else the headline."""
    return sort if sort in spec.score_names else spec.headline


def shared_ranks(values: Iterable[tuple[str, float | None]]) -> dict[str, int]:
    """id -> competition rank (1, 2, 2, 4), highest first; what has no value has no rank.

    Equal means equal counts: with the whole benchmark as denominator, shares that agree in units are the same counts.
    """
    known = sorted(((units(value), name) for name, value in values if value is not None), reverse=True)
    ranks: dict[str, int] = {}
    rank, before = 0, None
    for position, (value, name) in enumerate(known, start=1):
        rank, before = (rank, before) if value == before else (position, value)
        ranks[name] = rank
    return ranks


def standings(
    ranks: Mapping[str, int], ranges: Mapping[str, RankRange], *, versions: Mapping[str, str] = MappingProxyType({})
) -> dict[str, RankInfo]:
    """id -> standing, for everything that has a rank.

    ``versions``: entries that are not the best version of their judge -> the one that is ranked. Under another rule
    than that of the tests it may be the tested one that is not.
    """
    result = {name: RankInfo(rank) for name, rank in ranks.items()}
    at = sorted(ranks[ranked] for name in ranges if (ranked := versions.get(name, name)) in ranks)
    below_first = next((rank for rank in at if rank > at[0]), 1)
    for name, tested in ranges.items():
        rank = ranks.get(name)
        if rank is not None and tested.worst <= len(at):
            # Equals share the first rank: who cannot be first begins below it, not at the second of them.
            best = at[tested.best - 1] if tested.best == 1 else max(at[tested.best - 1], below_first)
            wide = tested.worst - tested.best >= max(FEW_RANKS, len(at) // 4)
            result[name] = RankInfo(
                rank, best, worst=at[tested.worst - 1], level=tested.best == 1 and rank > 1, wide=wide
            )
    return result


def with_bands(standings: Mapping[str, RankInfo]) -> dict[str, RankInfo]:
    """Return the standings; those of tested entries that share a place name the rank at the top of their band.

    The first band holds the first and all that could be it. Below it, the best one that is left begins a
    band with those whose range of ranks reaches its rank. A band of one is none.
    """
    tested = {name: at for name, at in standings.items() if at.best is not None}
    bands: dict[int, list[str]] = {}
    top = 0
    for name, at in sorted(tested.items(), key=lambda item: item[1].rank):
        if not at.shares_first and (top == 0 or (at.best or 0) > top):
            top = at.rank
        bands.setdefault(1 if at.shares_first else top, []).append(name)
    shared = {name: rank for rank, names in bands.items() if len(names) > 1 for name in names}
    return {name: at._replace(band=shared.get(name)) for name, at in standings.items()}


def band_classes(names: Sequence[str], standings: Mapping[str, RankInfo]) -> dict[str, str]:
    """id -> CSS classes that draw the bands over rows in this order: where one begins, goes on and ends."""
    bands = [at.band if (at := standings.get(name)) is not None else None for name in names]
    places = zip(names, bands, [None, *bands], [*bands[1:], None], strict=False)
    return {
        name: " band" + (" begins" if before != band else "") + (" ends" if after != band else "")
        for name, band, before, after in places
        if band
    }
