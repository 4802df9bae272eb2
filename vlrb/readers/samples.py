"""A few votes of a file with what was read from each, so that its sender sees whether it was understood."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from vlrb.common.messages import _
from vlrb.common.text import one_line

MOST_SAMPLES = 3
_BEGINNING, _END = 100, 180  # characters of a long reply: its verdict is at the end
SHOWN = (_("answer 1 is better"), _("answer 2 is better"), _("no verdict"))
STORED = (_("response 0 is better"), _("response 1 is better"), _("undecided"))
"""Text for each choice (UNDECIDED is the last), in the order shown or in the order stored."""


class SeenVote(NamedTuple):
    """``reply``: an excerpt of the judge's text or, where a file has none, the value in its place."""

    row: int
    vote: int  # within the row
    reply: str
    read: str


class Samples:
    """Keeps the first votes of each kind while a file is read, and nothing of the others."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: tuple[list[SeenVote], ...] = ([], [], [])

    def see(self, row: int, vote: int, *, choice: int, reply: Any, words: Sequence[str]) -> None:
        """Keep the vote of a row while samples are few; ``choice``: 0, 1 or UNDECIDED, in the terms of ``words``."""
        held = self._held[choice]
        if len(held) < MOST_SAMPLES:
            held.append(SeenVote(row, vote, reply=excerpt(reply), read=words[choice]))

    def chosen(self) -> list[SeenVote]:
        """Return the first of each kind, then the first ones, in file order."""
        first = [held[0] for held in self._held if held]
        others = sorted(sample for held in self._held for sample in held[1:])
        return sorted([*first, *others[: MOST_SAMPLES - len(first)]])


def excerpt(reply: Any) -> str:
    """Return a reply in one line of bounded length: of a long one the beginning and the end, nothing invisible."""
    try:
        text = (reply if isinstance(reply, str) else json.dumps(reply)).strip()
    except RecursionError:
        return "[...]"
    if len(text) <= _BEGINNING + _END:
        return one_line(text)
    start, end = text[:_BEGINNING], text[-_END:]
    return f"{one_line(start.rsplit(None, 1)[0])} … {one_line(end.split(None, 1)[-1])}"
