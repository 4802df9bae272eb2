"""Opening of the board: one sentence that says who is best in a view, and a strip of dots per accuracy. Pure.

The strips are SVG paths of points without length: a round line cap makes each a dot that stays round however wide the
page draws the strip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from leaderboard.board.names import listed, short_name
from leaderboard.board.query import BoardQuery, asked_words, row_test
from leaderboard.board.rows import Board, BoardRow
from vlrb.common.messages import Message, _, joined
from vlrb.common.rounding import percent, tenths, units

_LOW, _HIGH = 200, 1000  # tenths of a percent: the ends of the axis
_WIDTH = 1000  # units of the drawing from one end to the other
_BIN = 8  # tenths of a percent that share a column of dots
_MIDDLE, _STEP, _MOST = 20, 6, 7  # of a strip: its line, from a dot to the next one of a column, dots of a column
_NAMED = 2  # of those who share first place with the best


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


class BestSet(Protocol):
    """Test who of some entries could be first by a score; None where that cannot be tested."""

    def __call__(self, names: Sequence[str], order: str) -> Collection[str] | None: ...


def untested(names: Sequence[str], order: str) -> None:
    """Test nothing: for who has no counts of pairs."""


def finding(board: Board, view: BoardQuery | None = None, *, best_set: BestSet = untested) -> tuple[Message, ...]:
    """Return who is best of the judges that a view shows, by what orders it, in one or two sentences.

    First place is shared by all that could be first. ``best_set``: tests those that a search or filter leaves.
    """
    asked = view or BoardQuery(board.spec)
    key = asked.sort if asked.sort in board.values else board.headline
    test = row_test(asked)
    rows = [row for row in board.rows if row.leads and row.value(key) is not None and test(row)]
    scored = [row for row in rows if row.tier == "scored"]
    sentences: list[Message] = []
    if asked.tier in ("all", "scored"):
        some = bool(asked_words(asked))
        first = _first(board, scored, key=key)
        if some:
            first = _first_of(scored, key, shared=first, best_set=best_set)
        sentences.append(_leaders(board, first, key=key, some=some, alone=len(scored) == 1))
    return (*sentences, *_best_reported(board, rows, key=key))


def _first(board: Board, scored: Sequence[BoardRow], *, key: str) -> list[BoardRow]:
    """Return who shares first place on the board."""
    standings = board.standings(key)
    return [row for row in scored if (at := standings.get(row.id)) and at.shares_first]


def _first_of(scored: Sequence[BoardRow], key: str, *, shared: Sequence[BoardRow], best_set: BestSet) -> list[BoardRow]:
    """Return who shares first place among some judges. Where that is not tested: who has the highest score, and those
    of them that share first place on the board."""
    judges = [row for row in scored if row.is_ranked] or list(scored)
    known = best_set([row.id for row in judges], key) if len(judges) > 1 else None
    if known is not None:
        return [row for row in judges if row.id in known]
    highest = max((units(row.value(key)) for row in judges), default=0)
    return [row for row in judges if units(row.value(key)) == highest or row in shared]


def _leaders(board: Board, first: Sequence[BoardRow], *, key: str, some: bool, alone: bool) -> Message:
    """Say who is first. ``some``: of the judges that a search or filter leaves; ``alone``: there is no other."""
    if not first:
        return _("None of these judges is scored here.") if some else _("No judge has been scored here yet.")
    top, *others = sorted(first, key=lambda row: -row.value(key))
    bounds, value = top.interval.get(key), percent(top.value(key))
    interval = f" ({percent(bounds[0])}–{percent(bounds[1])})" if bounds else ""
    name = short_name(top.model)
    best = joined((_(board.spec.name_of(key)), f"{value}{interval}"), " ")
    if alone:
        return _("{name} is scored: {best}.", name=name, best=best)
    if not others:
        text = _("Of these judges, {name} leads: {best}.") if some else _("{name} leads: {best}.")
        return _(text, name=name, best=best)
    named = [short_name(row.model) for row in others]
    with_whom = listed(named) if len(named) <= _NAMED else _("{n:,} others", n=len(named))
    if some:
        text = _("Of these judges, {name} shares first place with {others}: {best}.")
    else:
        text = _("{name} shares first place with {others}: {best}.")
    return _(text, name=name, others=with_whom, best=best)


def _best_reported(board: Board, rows: Sequence[BoardRow], *, key: str) -> tuple[Message, ...]:
    """Say what the best reported result is; results of a benchmark that the demo only imitates say nothing there."""
    reported = [row for row in rows if row.tier == "reported" and not row.inconsistent]
    if board.spec.synthetic or not reported:
        return ()
    best = max(reported, key=lambda row: row.value(key))
    return (
        _("Best reported: {name}, {best}, not verified.", name=short_name(best.model), best=percent(best.value(key))),
    )


def strips(board: Board) -> tuple[Strip, ...]:
    """Return a strip per accuracy that is drawn with its interval: the one that orders the board first.

    Where labels are hidden and only the overall is shown, that is one strip.
    """
    keys = [column.key for column in board.columns if column.kind == "interval"]
    drawn = (_strip(board, key) for key in keys)
    return tuple(strip for strip in drawn if strip.scored or strip.reported)


def _known(board: Board, tier: str, *, key: str) -> list[BoardRow]:
    """Return the rows with a value; what leads nothing is none to look up to."""
    return [row for row in board.rows if row.tier == tier and row.leads and row.value(key) is not None]


def _strip(board: Board, key: str) -> Strip:
    scored, reported = _known(board, "scored", key=key), _known(board, "reported", key=key)
    consistent = [row for row in reported if not row.inconsistent]
    best = max(scored or consistent, key=lambda row: row.value(key), default=None)
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
