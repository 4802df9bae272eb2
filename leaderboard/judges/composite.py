"""Composites of judges over the benchmarks that a reader chooses, with the reader's weights. Pure.

Only scores made here count, each the headline of its board; none of votes that need no judge. A judge without one of
the chosen benchmarks has no composite: nothing is averaged over different sets of columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from leaderboard.board.disclosure import rounded
from leaderboard.board.rows import Board
from leaderboard.judges.table import JudgeLine
from vlrb.disclosure import PUBLIC
from vlrb.statistics.composite import BenchmarkScore, Composite, composites
from vlrb.statistics.uncertainty import Interval

LARGEST_WEIGHT = 9.0


def composite_of(lines: Sequence[JudgeLine], weights: Mapping[str, float]) -> dict[str, Composite]:
    """Return slug -> composite of the judges that have a score on every benchmark with a weight.

    Empty where fewer than two benchmarks have one.
    """
    if sum(weight > 0 for weight in weights.values()) < 2:
        return {}
    return composites({line.slug: _scores(line) for line in lines}, weights)


def weighted(boards: Sequence[Board], weights: Mapping[str, float]) -> tuple[Board, ...]:
    """Return the boards that a composite takes in: those with a weight."""
    return tuple(board for board in boards if weights.get(board.benchmark, 1.0) > 0)


def _scores(line: JudgeLine) -> dict[str, BenchmarkScore]:
    scores = {}
    for cell in line.cells:
        leads = cell is not None and cell.scored is not None and cell.scored.leads
        headline = cell.figures[0] if cell is not None and leads and cell.figures else None
        if cell is not None and headline is not None and headline.key == cell.board.headline and headline.interval:
            figures = (headline.value, *headline.interval)
            # Weights could tell more digits of a score than its board does.
            value, low, high = figures if cell.board.level == PUBLIC else rounded(figures)
            scores[cell.board.benchmark] = BenchmarkScore(value, Interval(low, high))
    return scores


def parse_weight(text: str | None) -> float:
    """Return a weight as somebody typed it, from 0 to LARGEST_WEIGHT; 1 for what is none."""
    try:
        weight = float(text or "1")
    except ValueError:
        return 1.0
    return min(max(weight, 0.0), LARGEST_WEIGHT) if math.isfinite(weight) else 1.0
