"""Opening of the board: who is best in a view, and whether that lead is real. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from leaderboard.ranking.names import listed, short_name
from leaderboard.ranking.parameters import BoardQuery, asked_words, leading
from leaderboard.ranking.rows import Board, BoardRow
from vlrb.common.messages import Message, _, joined
from vlrb.common.rounding import percent, percent_range, tenths, units

_NAMED = 2  # of those who share first place with the best


BestSet = Callable[[Sequence[str], str], Collection[str] | None]
"""Tests who of some entries could be first by a score; None where that cannot be tested."""


def untested(names: Sequence[str], order: str) -> None:
    """Test nothing: for who has no counts of pairs."""


def finding(
    board: Board, view: BoardQuery | None = None, *, best_set: BestSet = untested, whole: bool = False
) -> tuple[Message, ...]:
    """Return who is best of the judges that a view shows, by what orders it, in one or two sentences.

    First place is shared by all that could be first. ``best_set``: tests those that a search or filter leaves.
    ``whole``: also how far ahead that is, and what guessing gives.
    """
    asked = view or BoardQuery(board.spec)
    key, rows = asked.ranked_by(board), leading(board, asked)
    scored = [row for row in rows if row.tier == "scored"]
    sentences: list[Message] = []
    if asked.tier in ("all", "scored"):
        some = bool(asked_words(asked))
        first = _first(board, scored, key=key)
        if some:
            first = _first_of(scored, key, shared=first, best_set=best_set)
        sentences.append(_leaders(board, first, key=key, some=some, alone=len(scored) == 1))
        if whole and first:
            sentences += _lead(board, first, scored=scored, key=key)
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
    ids = {row.id for row in shared}
    return [row for row in judges if units(row.value(key)) == highest or row.id in ids]


def _leaders(board: Board, first: Sequence[BoardRow], *, key: str, some: bool, alone: bool) -> Message:
    """Say who is first. ``some``: of the judges that a search or filter leaves; ``alone``: there is no other."""
    if not first:
        return _("None of these judges is scored here.") if some else _("No judge has been scored here yet.")
    top, *others = sorted(first, key=lambda row: -row.value(key))
    value, bounds = percent(top.value(key)), percent_range(top.interval.get(key))
    name = short_name(top.model)
    best = joined((_(board.spec.name_of(key)), f"{value} ({bounds})" if bounds else value), " ")
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


def _lead(board: Board, first: Sequence[BoardRow], *, scored: Sequence[BoardRow], key: str) -> list[Message]:
    """Say how far the next judge is behind, whether chance explains that, and what guessing gives."""
    chance = _("Guessing gives {chance}.", chance=board.spec.chance_percent(key))
    ahead = {row.id for row in first}
    behind = [row for row in scored if row.is_ranked and row.id not in ahead]
    tested = bool(board.ranges.get(key))
    if len(first) > 1:
        return [_("Paired tests cannot tell them apart."), chance] if tested else [chance]
    if not behind:
        return [chance]
    after = max(behind, key=lambda row: row.value(key))
    gap = tenths(first[0].value(key)) - tenths(after.value(key))
    name, points = short_name(after.model), f"{gap / 10:.1f}"
    if tested:
        lead = _("Its lead is real: {name} is {gap} points behind, more than chance explains.", name=name, gap=points)
    else:
        lead = _("{name} is {gap} points behind.", name=name, gap=points)
    return [lead, chance]


def _best_reported(board: Board, rows: Sequence[BoardRow], *, key: str) -> tuple[Message, ...]:
    """Say what the best reported result is; results of a benchmark that the demo only imitates say nothing there."""
    reported = [row for row in rows if row.tier == "reported" and not row.inconsistent]
    if board.spec.synthetic or not reported:
        return ()
    best = max(reported, key=lambda row: row.value(key))
    return (
        _("Best reported: {name}, {best}, not verified.", name=short_name(best.model), best=percent(best.value(key))),
    )
