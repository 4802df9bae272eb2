"""Entry search by model, owner or id, whatever their moderation state."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from maintenance import text_output
from maintenance.action_context import ActionContext
from maintenance.database import entry_queries
from maintenance.database.entry_queries import EntryRow
from maintenance.registry import ParamInfo, action
from maintenance.types import require_maintainer

MOST = 100
EntrySearch = Annotated[
    str, ParamInfo(option="--search", metavar="TEXT", help="only those with this in model, owner or id")
]


class EntryMatches(NamedTuple):
    """The entries that were asked for, the newest first, MOST of them; `number`: how many there are."""

    entries: tuple[EntryRow, ...]
    number: int


@action(
    "entries.list",
    "GET /api/v1/maintenance/entries",
    text=text_output.entries_found,
    help="entries with their owners and where they are, the newest first",
)
def search(ctx: ActionContext, search: EntrySearch = "") -> EntryMatches:
    """Return entries with `search` in model, version, id, or the owner's id or name. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        rows, number = entry_queries.search(session, ctx.benchmark, text=search.strip(), limit=MOST)
    return EntryMatches(tuple(rows), number)


def standing(ctx: ActionContext, entry: str) -> str:
    """Return where an entry is, after "it": on the board, or why not. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return entry_queries.standings(session, [entry])[entry]
