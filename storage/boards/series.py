"""Series of contents that are stored as differences, each to the one before it.

Every 128th is stored whole, so that reading one takes at most 127 steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models.core import Snapshot

WHOLE = 128
_Content = TypeVar("_Content")


class SeriesPlace(NamedTuple):
    """Place of a new row in its series, and the key of the row that it is stored as a difference to; None: whole."""

    series: str
    number: int
    base: str | None


def next_place(session: Session, *, series: str) -> SeriesPlace:
    """Return the place of the next row. Who stores it holds the lock of the board, or somebody else was faster."""
    ours, newest = Snapshot.series == series, Snapshot.number.desc()
    last = select(Snapshot.number, Snapshot.id).where(ours).order_by(newest).limit(1)
    row = session.execute(last).first()
    number, before = (0, None) if row is None else ((row[0] or 0) + 1, row[1])
    return SeriesPlace(series, number, base=before if number % WHOLE else None)


def read(
    row: Any,
    find: Callable[[str], Any],
    *,
    whole: Callable[[Any], _Content],
    change: Callable[[_Content, Any], _Content],
) -> _Content:
    """Return the content of a row: that of its first base, changed by each row on the way. Raises LookupError."""
    way = [row]
    while way[-1].base is not None:
        base = find(way[-1].base)
        if base is None:
            raise LookupError(f"no base {way[-1].base}")
        way.append(base)
    content = whole(way.pop())
    for later in reversed(way):
        content = change(content, later)
    return content
