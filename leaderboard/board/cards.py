"""Cards above the board: the best judge of four questions, each with the address of its view. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from leaderboard.ranking.names import short_name
from leaderboard.ranking.parameters import BoardQuery, leading
from leaderboard.ranking.rows import Board, BoardRow
from vlrb.common.messages import Message, _, ngettext
from vlrb.common.rounding import percent, percent_range

OPEN_AND_SMALL = (("open", "yes"), ("max_size", "10"))
"""What readers ask for most: the filters of one click."""


@dataclass(frozen=True, slots=True)
class Card:
    """An answer. ``key``: the score; ``words``: its interval, or what arithmetic says of it (``wrong``)."""

    title: str
    name: str
    key: str
    value: str
    words: str
    url: str
    wrong: bool = False


def cards(board: Board, view: BoardQuery) -> tuple[Card, ...]:
    """Return the best scored here, the best open one up to 10B, the best in the largest category, the best claimed."""
    usual = BoardQuery(board.spec, protocol=view.protocol, grouping=view.grouping, revision=view.revision)
    usual = replace(usual, as_of=view.as_of, embed=view.embed)
    asked = [(_("Best scored here"), usual), (_("Best open, up to 10B"), replace(usual, filters=OPEN_AND_SMALL))]
    key = max((key for key in board.spec.category_keys if key in board.values), key=board.sizes.__getitem__, default="")
    if key:
        asked.append((_("Best on {category}", category=_(board.spec.title_of(key))), replace(usual, sort=key)))
    if not board.spec.synthetic:
        asked.append((_("Best claimed in a paper"), replace(usual, tier="reported")))
    return tuple(_card(board, top, title=title, view=view) for title, view in asked if (top := _best(board, view)))


def _best(board: Board, view: BoardQuery) -> BoardRow | None:
    """Return the best row of a view, scored here unless it asks for reported ones."""
    key, tier = view.ranked_by(board), "scored" if view.tier == "all" else view.tier
    return max((row for row in leading(board, view) if row.tier == tier), key=lambda row: row.value(key), default=None)


def _sharing(board: Board, row: BoardRow, *, key: str) -> int:
    """Return how many others share first place with the best judge, as far as that was tested."""
    standings = board.standings(key)
    if row.id not in standings or not board.ranges.get(key):
        return 0
    return sum(at.shares_first for name, at in standings.items() if name != row.id)


def _card(board: Board, row: BoardRow, *, title: Message, view: BoardQuery) -> Card:
    key = view.ranked_by(board)
    words = percent_range(row.interval.get(key))
    if not view.filters and (others := _sharing(board, row, key=key)):
        words = ngettext("{words}, level with {n} other", "{words}, level with {n} others", others, words=words)
    said = row.note if row.tier == "reported" else ""
    return Card(title, short_name(row.model), key, percent(row.value(key)), said or words, view.url(), bool(said))
