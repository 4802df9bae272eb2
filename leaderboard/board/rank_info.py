"""Rank and rank range of a row in a given order.

The ranges of a snapshot (benchmark.statistics.pairwise) count each judge once, by its best version, while the board
ranks every version. Rank ranges are converted to board ranks: best rank = rank of the judge at the upper end, worst =
at the lower end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from benchmark.spec import BenchmarkSpec
from benchmark.statistics.pairwise import RankRange
from common.rounding import units


class RankInfo(NamedTuple):
    """``rank`` is shared by equals. ``best`` and ``worst`` are None where nothing was tested."""

    rank: int
    best: int | None = None
    worst: int | None = None
    level: bool = False  # not separable from the first, without being it


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


def standings(ranks: Mapping[str, int], ranges: Mapping[str, RankRange]) -> dict[str, RankInfo]:
    """id -> standing, for everything that has a rank."""
    result = {name: RankInfo(rank) for name, rank in ranks.items()}
    at = sorted(ranks[name] for name in ranges if name in ranks)
    for name, tested in ranges.items():
        rank = ranks.get(name)
        if rank is not None and tested.worst <= len(at):
            result[name] = RankInfo(rank, at[tested.best - 1], at[tested.worst - 1], not tested.separable and rank > 1)
    return result
