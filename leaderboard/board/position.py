"""Position of one entry among all results: a strip of dots per accuracy, with the entry marked. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.board.opening import strips
from leaderboard.board.rows import Board, BoardRow, Bounds

_LOW, _HIGH, _WIDTH = 0.2, 1.0, 1000  # ends of the axis, and units of the drawing between them


@dataclass(frozen=True, slots=True)
class MarkedStrip:
    """One accuracy: dots of all results, and where this one is, in a drawing of 1,000 x 40 units."""

    key: str
    scored: str
    reported: str
    mark: int | None  # None: the entry has no such accuracy
    interval: tuple[int, int] | None


def marked_strips(board: Board, row: BoardRow) -> tuple[MarkedStrip, ...]:
    """Return the strips of a board with one row marked; none where the row has no accuracy that is drawn."""
    drawn = tuple(
        MarkedStrip(
            key=strip.key,
            scored=strip.scored,
            reported=strip.reported,
            mark=None if (value := row.value(strip.key)) is None else _place(value),
            interval=_reach(row.interval.get(strip.key)),
        )
        for strip in strips(board)
    )
    return drawn if any(strip.mark is not None for strip in drawn) else ()


def _reach(bounds: Bounds | None) -> tuple[int, int] | None:
    return None if bounds is None else (_place(bounds[0]), _place(bounds[1]))


def _place(share: float) -> int:
    return round(min(max((share - _LOW) / (_HIGH - _LOW), 0.0), 1.0) * _WIDTH)
