"""Rank changes between two boards, entry by entry. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaderboard.ranking.rows import Board, BoardRow
from vlrb.common.rounding import percent, points, tenths
from vlrb.disclosure import HIDDEN, PUBLIC, half_point

MOST_MOVES = 50  # lines of the table; the largest changes


@dataclass(frozen=True, slots=True)
class RankChange:
    """An entry on both boards: its rows there, and its score as people read it; ``delta`` in points."""

    old: BoardRow
    new: BoardRow
    before: str
    after: str
    delta: str


@dataclass(frozen=True, slots=True)
class RankChanges:
    """Counts over all entries that stand on both boards, and the lines of those that changed most."""

    entries: int
    changed: int  # in any score
    moved: int  # in rank
    largest: str  # change, in points; "" without any
    lines: tuple[RankChange, ...]
    what: str  # the score that is compared


def rank_changes(before: Board, after: Board) -> RankChanges:
    """Return the differences between two boards: where a label set is not public, in the overall to half a point."""
    hidden = (before.level, after.level) != (PUBLIC, PUBLIC)
    if hidden:
        before, after = _overall_alone(before), _overall_alone(after)
    old = {row.id: row for row in before.rows if row.tier == "scored"}
    pairs = [(old[row.id], row) for row in after.rows if row.tier == "scored" and row.id in old]
    different = [_differs(earlier, other, names=after.spec.score_names, hidden=hidden) for earlier, other in pairs]
    moved = [earlier.rank != other.rank for earlier, other in pairs]
    names = after.spec.tie_breaks
    rows = [
        (_points(_first(earlier, names), _first(other, names), hidden=hidden), earlier, other)
        for earlier, other in pairs
    ]
    changed = [line for line, *reasons in zip(rows, different, moved, strict=True) if any(reasons)]
    changed.sort(key=lambda line: -abs(line[0] or 0.0))
    deltas = [abs(delta) for delta, *_ in rows if delta is not None]
    return RankChanges(
        len(pairs),
        sum(different),
        moved=sum(moved),
        largest=_format_points(max(deltas), hidden).lstrip("+") if deltas else "",
        lines=tuple(
            _line(delta, earlier, new=other, names=names, hidden=hidden)
            for delta, earlier, other in changed[:MOST_MOVES]
        ),
        what=before.headline,
    )


def _overall_alone(board: Board) -> Board:
    """Return the board as far as it can be compared with one of hidden labels."""
    pooled = board.spec.pooled
    exact = [row.scores[pooled] for row in board.rows]
    values = [None if value is None else half_point(value) for value in exact]
    rows = [row.with_values({pooled: value}) for row, value in zip(board.rows, values, strict=True)]
    return replace(board, rows=tuple(rows), level=HIDDEN, _kept={})


def _points(old: float | None, new: float | None, *, hidden: bool) -> float | None:
    """Return how far a score went, in points; of rounded shares where no more is public."""
    if old is None or new is None:
        return None
    return (tenths(new) - tenths(old)) / 10 if hidden else 100 * (new - old)


def _first(row: BoardRow, names: Sequence[str]) -> float | None:
    """Return the first of these scores that there is: the headline, or the pooled one where that is all."""
    return next((value for name in names if (value := row.scores[name]) is not None), None)


def _differs(old: BoardRow, new: BoardRow, *, names: Sequence[str], hidden: bool) -> bool:
    as_shown = percent if hidden else (lambda share: share)
    return any(as_shown(old.value(name)) != as_shown(new.value(name)) for name in names)


def _format_points(delta: float, hidden: bool) -> str:
    """Return points as text; two decimals where these are public, since one label moves a macro by a few hundredths."""
    return points(delta / 100, signed=True) if hidden else f"{delta:+.2f}".replace("-", "\u2212")


def _line(delta: float | None, old: BoardRow, *, new: BoardRow, names: Sequence[str], hidden: bool) -> RankChange:
    before, after = percent(_first(old, names)), percent(_first(new, names))
    change = "" if delta is None else _format_points(delta, hidden)
    return RankChange(old, new, before=before, after=after, delta=change)
