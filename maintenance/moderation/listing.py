"""Finding entries: by model, owner or id, whatever has been decided about them."""

from __future__ import annotations

from typing import NamedTuple

from maintenance.moderation import queries
from maintenance.moderation.queries import Row
from maintenance.values import Identity, require_maintainer
from storage.database import Database

MOST = 100


class Found(NamedTuple):
    """The entries that were asked for, the newest first, MOST of them; `number`: how many there are."""

    entries: tuple[Row, ...]
    number: int


def search(database: Database, who: Identity, benchmark: str, text: str = "") -> Found:
    """Entries with `text` in model, version, id, or the owner's id or name. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        rows, number = queries.search(session, benchmark, text.strip(), MOST)
    return Found(tuple(rows), number)


def standing(database: Database, who: Identity, entry: str) -> str:
    """Where an entry is, after "it": on the board, or why not. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return queries.standings(session, [entry])[entry]
