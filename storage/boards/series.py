"""Series of contents that are stored as differences: which earlier one a content is compared with, and how it is read.

Number 0 is stored whole. Others name their base: the one before; for every 32nd the 32nd before it, for every 1,024th
the 1,024th before it. So reading takes at most 93 steps up to number 32,768, which is whole again, and what changes
once is stored three times at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.models.core import Snapshot, StoredRelations

STEPS = (1, 32, 1_024)
WHOLE = 32_768
_Content = TypeVar("_Content")
_Rows = type[Snapshot] | type[StoredRelations]


class SeriesPlace(NamedTuple):
    """Place of a new row in its series, and the key of the row that it is stored as a difference to; None: whole."""

    series: str
    number: int
    base: str | None

    def columns(self) -> dict[str, Any]:
        """Return the columns of the row."""
        return self._asdict()


def base_number(number: int) -> int | None:
    """Return the number of the base; None for what is stored whole."""
    return None if number % WHOLE == 0 else number - _step(number)


def _step(number: int) -> int:
    return max(step for step in STEPS if number % step == 0)


class Bases(Generic[_Content]):
    """What later rows may be differences to, while a series is read in its order."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[str, _Content]] = {}  # by step

    def find(self, key: str) -> _Content:
        """Return the content of a base. Raises LookupError."""
        return dict(self._kept.values())[key]

    def keep(self, key: str, number: int | None, *, content: _Content) -> None:
        """Keep what was read, as long as others may name it."""
        if number is not None:
            self._kept |= {step: (key, content) for step in STEPS if number % step == 0}


def next_place(session: Session, rows: _Rows, *, series: str) -> SeriesPlace:
    """Return the place of the next row. Who stores it holds the lock of the board, or somebody else was faster."""
    last = session.execute(select(func.max(rows.number)).where(rows.series == series)).scalar_one()
    number = 0 if last is None else int(last) + 1
    before = base_number(number)
    key = rows.id if rows is Snapshot else StoredRelations.inputs
    result = select(key).where(rows.series == series, rows.number == before)
    return SeriesPlace(series, number, base=None if before is None else session.scalars(result).first())


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
