"""Rank changes between two boards, entry by entry. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmark.disclosure import OVERALL_ONLY, half_points
from benchmark.ranking import MACRO, OVERALL
from common.rounding import percent, tenths
from leaderboard.board.columns import VALUES
from leaderboard.board.rows import Board, BoardRow
from leaderboard.charts.estimates import signed

MOST_MOVES = 50  # lines of the table; the largest changes


@dataclass(frozen=True, slots=True)
class RankChange:
    """An entry on both boards. Texts as people read them; ``delta`` in points."""

    id: str
    name: str
    before: str
    after: str
    delta: str
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True, slots=True)
class RankChanges:
    """Counts over all entries that stand on both boards, and the lines of those that changed most."""

    entries: int
    changed: int  # in any of macro, overall and the categories
    moved: int  # in rank
    largest: str  # change, in points; "" without any
    lines: tuple[RankChange, ...]
    what: str = MACRO  # the accuracy that is compared


def rank_changes(before: Board, after: Board, *, hidden: bool = False) -> RankChanges:
    """Return the differences between two boards. ``hidden``: one of the label sets is not public, so nothing finer
    than 0.1 point is told; where one board shows the overall alone, both are compared by that, to half a point."""
    if OVERALL_ONLY in (before.level, after.level):
        before, after, hidden = _overall_alone(before), _overall_alone(after), True
    old = {row.id: row for row in before.rows if row.tier == "scored"}
    pairs = [(old[row.id], row) for row in after.rows if row.tier == "scored" and row.id in old]
    different = [_differs(one, other, hidden) for one, other in pairs]
    moved = [one.rank != other.rank for one, other in pairs]
    found = [(_points(one, other, hidden), one, other) for one, other in pairs]
    shown = [line for line, *reasons in zip(found, different, moved, strict=True) if any(reasons)]
    shown.sort(key=lambda line: -abs(line[0] or 0.0))
    deltas = [abs(delta) for delta, *_ in found if delta is not None]
    return RankChanges(
        len(pairs),
        sum(different),
        sum(moved),
        _said(max(deltas), hidden).lstrip("+") if deltas else "",
        tuple(_line(*line, hidden) for line in shown[:MOST_MOVES]),
        before.headline,
    )


def _overall_alone(board: Board) -> Board:
    """Return the board as far as it can be compared with one that shows the overall alone: that, to half a point."""
    overalls = [None if row.overall is None else half_points(np.array(row.overall)).item() for row in board.rows]
    rows = [row.with_values({OVERALL: overall}) for row, overall in zip(board.rows, overalls, strict=True)]
    return replace(board, rows=tuple(rows), level=OVERALL_ONLY, _standings={})


def _points(one: BoardRow, other: BoardRow, hidden: bool) -> float | None:
    """Return how far the macro average (or overall) went, in points; of rounded shares where no more may be told."""
    old, new = _headline(one), _headline(other)
    if old is None or new is None:
        return None
    return (tenths(new) - tenths(old)) / 10 if hidden else 100 * (new - old)


def _headline(row: BoardRow) -> float | None:
    """Return the macro average; the overall where that is all there is."""
    return row.overall if row.macro is None else row.macro


def _differs(one: BoardRow, other: BoardRow, hidden: bool) -> bool:
    as_shown = percent if hidden else (lambda share: share)
    return any(as_shown(one.value(name)) != as_shown(other.value(name)) for name in VALUES)


def _said(points: float, hidden: bool) -> str:
    """With two decimals where they may be told: a single label moves a macro average by a few hundredths."""
    return signed(points) if hidden else f"{points:+.2f}".replace("-", "\u2212")


def _line(delta: float | None, one: BoardRow, other: BoardRow, hidden: bool) -> RankChange:
    name = " ".join(f"{other.model} {other.version}".split())
    said = "" if delta is None else _said(delta, hidden)
    return RankChange(other.id, name, percent(_headline(one)), percent(_headline(other)), said, one.rank, other.rank)
