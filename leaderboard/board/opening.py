"""Opening of the front page: one sentence that says who is best, and a strip of dots per accuracy. Pure.

The strips are SVG paths of points without length: a round line cap makes each a dot that stays round however wide the
page draws the strip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.board.names import short_name
from leaderboard.board.rows import Board, BoardRow
from vlrb.common.messages import Message, _, joined
from vlrb.common.rounding import percent, tenths

_LOW, _HIGH = 200, 1000  # tenths of a percent: the ends of the axis
_WIDTH = 1000  # units of the drawing from one end to the other
_BIN = 8  # tenths of a percent that share a column of dots
_MIDDLE, _STEP, _MOST = 20, 6, 7  # of a strip: its line, from a dot to the next one of a column, dots of a column
_NUMBERS = (
    _("No"), _("One"), _("Two"), _("Three"), _("Four"), _("Five"), _("Six"), _("Seven"), _("Eight"), _("Nine"),
    _("Ten"), _("Eleven"), _("Twelve"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strip:
    """Results in one accuracy. The paths are in a drawing of 1,000 x 40 units; the best is in words."""

    key: str
    scored: str
    reported: str
    best: str
    best_is_reported: bool
    best_name: str
    summary: tuple[Message, ...]


def finding(board: Board) -> tuple[Message, ...]:
    """Return who is best, in one or two sentences."""
    scored = _known(board, "scored", key=board.headline)
    # Results of a benchmark that the demo only imitates say nothing about simulated judges.
    reported = [] if board.spec.synthetic else _known(board, "reported", key=board.headline)
    return (_leaders(board, scored) or _("No judge has been scored here yet."), *_best_reported(board, reported))


def _known(board: Board, tier: str, *, key: str) -> list[BoardRow]:
    """Return the rows with a value; what leads nothing is none to look up to."""
    return [row for row in board.rows if row.tier == tier and row.leads and row.value(key) is not None]


def _leaders(board: Board, scored: Sequence[BoardRow]) -> Message | None:
    """Return who is first; None without a score. Judges that tests cannot separate from the first share its place."""
    standings = board.standings(board.headline)
    first = [row for row in scored if (at := standings.get(row.id)) is not None and (at.rank == 1 or at.level)]
    if not first:
        return None
    top = max(first, key=lambda row: row.value(board.headline))
    bounds = top.interval.get(board.headline)
    value = percent(top.value(board.headline))
    interval = f" ({percent(bounds[0])}–{percent(bounds[1])})" if bounds else ""
    best = joined((_(board.spec.name_of(board.headline)), f"{value}{interval}"), " ")
    judges = len({row.judge or row.id for row in first})
    if judges == 1:
        name = short_name(top.model)
        return _("{name} leads: {best}.", name=name, best=best) if len(scored) > 1 else _only(name, best)
    number = _NUMBERS[judges] if judges < len(_NUMBERS) else f"{judges:,}"
    if board.spec.synthetic:
        return _("{number} simulated judges share first place; best {best}.", number=number, best=best)
    return _("{number} judges share first place; best {best}.", number=number, best=best)


def _only(name: str, best: str) -> Message:
    return _("{name} is scored: {best}.", name=name, best=best)


def _best_reported(board: Board, reported: Sequence[BoardRow]) -> tuple[Message, ...]:
    if not reported:
        return ()
    best = percent(max(row.value(board.headline) for row in reported))
    return (_("Best reported {best}, not verified.", best=best),)


def strips(board: Board) -> tuple[Strip, ...]:
    """Return a strip per accuracy that is drawn with its interval: the one that orders the board first.

    Where labels are hidden and only the overall is shown, that is one strip.
    """
    keys = [column.key for column in board.columns if column.kind == "interval"]
    drawn = (_strip(board, key) for key in keys)
    return tuple(strip for strip in drawn if strip.scored or strip.reported)


def _strip(board: Board, key: str) -> Strip:
    scored, reported = _known(board, "scored", key=key), _known(board, "reported", key=key)
    best = max((*scored, *reported), key=lambda row: (row.value(key), row.tier == "reported"), default=None)
    stacked: Counter[int] = Counter()
    return Strip(
        key=key,
        scored=_dots((row.value(key) for row in scored), stacked),
        reported=_dots((row.value(key) for row in reported), stacked),
        best="" if best is None else percent(best.value(key)),
        best_is_reported=best is not None and best.tier == "reported",
        best_name="" if best is None else short_name(best.model),
        summary=_summary(scored, reported, key=key),
    )


def _summary(scored: Sequence[BoardRow], reported: Sequence[BoardRow], *, key: str) -> tuple[Message, ...]:
    """Return in words what the dots show."""
    texts = []
    if scored:
        texts.append(_("{n} scored here, from {low} to {high}.", **_spread(scored, key)))
    if reported:
        texts.append(_("{n} reported, from {low} to {high}.", **_spread(reported, key)))
    return tuple(texts)


def _spread(rows: Sequence[BoardRow], key: str) -> dict[str, str]:
    values = [row.value(key) for row in rows]
    return {"n": f"{len(values):,}", "low": percent(min(values)), "high": percent(max(values))}


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
