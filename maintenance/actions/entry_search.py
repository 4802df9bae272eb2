"""Entry search by model, owner or id, whatever their moderation state."""

from __future__ import annotations

from typing import NamedTuple

from maintenance import entry_queries
from maintenance.entry_queries import EntryRow
from maintenance.types import Identity, require_maintainer
from storage.database import Database

MOST = 100


class EntryMatches(NamedTuple):
    """The entries that were asked for, the newest first, MOST of them; `number`: how many there are."""

    entries: tuple[EntryRow, ...]
    number: int


def search(database: Database, user: Identity, benchmark: str, text: str = "") -> EntryMatches:
    """Return entries with `text` in model, version, id, or the owner's id or name. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        rows, number = entry_queries.search(session, benchmark, text.strip(), MOST)
    return EntryMatches(tuple(rows), number)


def standing(database: Database, user: Identity, entry: str) -> str:
    """Return where an entry is, after "it": on the board, or why not. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        return entry_queries.standings(session, [entry])[entry]
