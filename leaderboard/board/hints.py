"""Hints about a search of the board: fields that do not exist, and judges that are hidden as they state too little."""

from __future__ import annotations

from dataclasses import dataclass, replace

from leaderboard.board.columns import Column
from leaderboard.board.query import BoardQuery, asked_words, row_test
from leaderboard.board.rows import Board
from leaderboard.board.search import asked_column, haystack, is_unstated, misread, words
from vlrb.common.messages import Message, _, joined, ngettext

_MOST = 3  # words that are explained


@dataclass(frozen=True, slots=True)
class UnstatedJudges:
    """Scored judges that a view hides, or shows on request, because they do not state ``what`` it asks for."""

    count: int
    what: str
    shown: bool

    @property
    def text(self) -> Message:
        """Say so in a sentence that a link completes."""
        if self.shown:
            return ngettext(
                "{n} scored judge that does not state its {what} is shown:",
                "{n} scored judges that do not state their {what} are shown:",
                self.count,
                what=self.what,
            )
        return ngettext(
            "{n} scored judge does not state its {what}:",
            "{n} scored judges do not state their {what}:",
            self.count,
            what=self.what,
        )

    @property
    def link(self) -> Message:
        """What the link does."""
        return (
            ngettext("hide it", "hide them", self.count) if self.shown else ngettext("show it", "show them", self.count)
        )


def unstated_judges(board: Board, view: BoardQuery) -> UnstatedJudges | None:
    """Return which scored judges the view hides, or would hide, because of what they do not state; None for none."""
    columns = [column for word in asked_words(view) if (column := asked_column(word, view.spec)) is not None]
    if not columns:
        return None
    strict, lenient = (row_test(replace(view, unstated=unstated)) for unstated in (False, True))
    rows = [row for row in board.rows if row.tier == "scored" and lenient(row) and not strict(row)]
    names = dict.fromkeys(_name(column) for column in columns if any(is_unstated(row, column) for row in rows))
    return UnstatedJudges(len(rows), _listed(list(names)), shown=view.unstated) if rows else None


def _name(column: Column) -> Message:
    return _(column.title).written(column.title.lower())


def _listed(names: list[Message]) -> Message:
    first, last = joined(names[:-1]) if names[:-1] else "", names[-1]
    return _("{first} or {last}", first=first, last=last) if first else last


def misread_words(board: Board, view: BoardQuery) -> list[Message]:
    """Return a sentence for each word of the search that looks like a field and is none, and occurs in no row."""
    explained = ((word, misread(word, view.spec)) for word in dict.fromkeys(words(view.search)))
    misunderstood = [text for word, text in explained if text and not any(word in haystack(row) for row in board.rows)]
    return misunderstood[:_MOST]
