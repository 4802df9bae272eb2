"""Ranks of entries on the boards of snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from leaderboard.board.rows import build_board
from leaderboard.cache import SnapshotSource
from vlrb.benchmarks.spec import BenchmarkSpec

_KEPT = 4  # boards; a re-score concerns two


def public_ranks(source: SnapshotSource, spec: BenchmarkSpec) -> Callable[[str], Mapping[str, int]]:
    """Return a function from a snapshot's id to the ranks of its entries, as everybody saw them."""

    @lru_cache(maxsize=_KEPT)
    def ranks(snapshot_id: str) -> Mapping[str, int]:
        board = build_board(source.load(snapshot_id, old=True), spec)
        return {row.id: row.rank for row in board.rows if row.rank is not None}

    return ranks
