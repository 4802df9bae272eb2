"""Stored votes, for everything that computes from them: compared first with what their acceptance committed to.

Nothing else reads the column (tests/test_architecture.py). Whoever can write to the database could otherwise exchange
votes, have them counted, and put them back: the count would be a true event.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from storage.database import Database
from storage.integrity import integrity_alarms
from storage.integrity import integrity_check as integrity

_PAGE = 500  # submissions whose votes are compared at a time


class StoredVotes(NamedTuple):
    """Votes of an entry as they were accepted. `packed`: of ``vlrb.votes.Votes.pack``; `orders` likewise, of a judge
    that always chose the response shown first."""

    id: str
    k: int
    packed: bytes
    orders: bytes | None
    margins: bytes | None  # of ``vlrb.votes.Margins.pack``
    content_sha256: str  # of the file


def read(database: Database, submissions: Collection[str]) -> list[StoredVotes]:
    """Return the votes of those of some submissions that are there, by votes per item.

    Raises RecordChanged, and alarms, where the votes of one are not those that were accepted.
    """
    ordered, result = sorted(submissions), []
    for start in range(0, len(ordered), _PAGE):
        result += _read_page(database, ordered[start : start + _PAGE])
    return sorted(result, key=lambda votes: votes.k)


def _read_page(database: Database, submissions: Sequence[str]) -> list[StoredVotes]:
    with database.read() as session:
        rows, wrong = integrity.accepted(session, submissions)
    if wrong:
        integrity_alarms.refuse(database, wrong[0], subject=wrong[0].row)
    return [
        StoredVotes(
            row.id,
            row.votes_per_item,
            bytes(row.votes),
            orders=row.orders and bytes(row.orders),
            margins=row.margins and bytes(row.margins),
            content_sha256=row.content_sha256,
        )
        for row in rows
    ]
