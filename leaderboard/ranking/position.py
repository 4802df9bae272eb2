"""Positions of results on an axis from 20 to 100: one row's scores, and strips of all results. Pure.

The strips are SVG paths of points without length: a round line cap makes each a dot that stays round however wide the
page draws the strip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.ranking.rows import Board, BoardRow
from vlrb.common.rounding import tenths

_LOW, _HIGH = 200, 1000  # tenths of a percent: the ends of the axis
_WIDTH = 1000  # units of a drawing between them
_BIN = 8  # tenths of a percent that share a column of dots
_MIDDLE, _STEP, _MOST = 20, 6, 7  # of a strip: its line, from a dot to the next one of a column, dots of a column
_APART = 5  # pixels of a row's axis, from a dot to the next one of about the same value


@dataclass(frozen=True, slots=True)
class MarkedStrip:
    """One accuracy: dots of all results, and where this one is, in a drawing of 1,000 x 40 units."""

    key: str
    scored: str
    reported: str
    mark: int | None  # None: the entry has no such accuracy
    interval: tuple[int, int] | None


def axis_style(row: BoardRow, key: str, categories: Sequence[str]) -> str:
    """Return custom properties of a row's axis, in percent of it: the mark and interval of a score, and a dot for each
    category; dots that would cover each other stand below and above the line."""
    value, (low, high) = row.value(key), row.interval.get(key) or (None, None)
    places = {name: _place(share) for name, share in (("v", value), ("l", low), ("h", high)) if share is not None}
    stacked: Counter[int] = Counter()
    raised = {}
    for category in categories:
        if (share := row.value(category)) is not None:
            place = places[f"x-{category}"] = _place(share)
            nth = stacked[place // _BIN]
            stacked[place // _BIN] += 1
            raised[category] = (nth + 1) // 2 * (_APART if nth % 2 else -_APART)
    across = [f"--{name}:{place / 10:g}%" for name, place in places.items()]
    return ";".join([*across, *(f"--y-{category}:{pixels}px" for category, pixels in raised.items() if pixels)])


def marked_strips(board: Board, row: BoardRow) -> tuple[MarkedStrip, ...]:
    """Return a strip per accuracy that is drawn with its interval, with one row marked; none where the row has none."""
    drawn = (_strip(board, column.key, row=row) for column in board.columns if column.kind == "interval")
    strips = [strip for strip in drawn if strip.scored or strip.reported]
    return tuple(strips) if any(strip.mark is not None for strip in strips) else ()


def _strip(board: Board, key: str, *, row: BoardRow) -> MarkedStrip:
    stacked: Counter[int] = Counter()
    value, bounds = row.value(key), row.interval.get(key)
    return MarkedStrip(
        key,
        scored=_dots(_known(board, "scored", key=key), stacked),
        reported=_dots(_known(board, "reported", key=key), stacked),
        mark=None if value is None else _place(value),
        interval=None if bounds is None else (_place(bounds[0]), _place(bounds[1])),
    )


def _known(board: Board, tier: str, *, key: str) -> list[float]:
    """Return the values of a tier; what leads nothing is none to look up to."""
    return [row.value(key) for row in board.rows if row.tier == tier and row.leads and row.value(key) is not None]


def _place(share: float) -> int:
    return (min(max(tenths(share), _LOW), _HIGH) - _LOW) * _WIDTH // (_HIGH - _LOW)


def _dots(values: Iterable[float], stacked: Counter[int]) -> str:
    """Return a path with a point per value. Equal ones stand above and below one another, at most _MOST of them."""
    points = []
    for value in sorted(values, reverse=True):
        column = (min(max(tenths(value), _LOW), _HIGH) - _LOW) // _BIN
        place = stacked[column]
        stacked[column] += 1
        if place < _MOST:
            away = (place + 1) // 2 * _STEP
            points.append((column * _BIN * _WIDTH // (_HIGH - _LOW), _MIDDLE + (away if place % 2 else -away)))
    return "".join(f"M{x} {y}h0" for x, y in points)
