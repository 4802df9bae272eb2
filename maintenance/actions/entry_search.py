"""Entry search by model, owner or id, whatever their moderation state."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.actions import entries
from maintenance.database import entry_queries
from maintenance.database.entry_queries import EntryRow
from maintenance.database.queries import Change
from maintenance.registry import EntryParam, ParamInfo, action
from maintenance.types import Entry, require_maintainer

MOST = 100
EntrySearch = Annotated[
    str, ParamInfo(option="--search", metavar="TEXT", help="only those with this in model, owner or id")
]


class EntryMatches(NamedTuple):
    """A page of the entries that were asked for; `number`: how many there are."""

    entries: tuple[EntryRow, ...]
    number: int
    page: int = 1

    @property
    def pages(self) -> int:
        """Number of pages."""
        return max(1, -(-self.number // MOST))


@action(
    "entries.list",
    "GET /api/v1/maintenance/entries",
    view=views.entries_found,
    help="entries with their owners and where they are, the newest first",
)
def search(ctx: ActionContext, search: EntrySearch = "") -> EntryMatches:
    """Return entries with `search` in model, version, id, or the owner's id or name. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        rows, number = entry_queries.search(session, ctx.benchmark, text=search.strip(), limit=MOST)
    return EntryMatches(tuple(rows), number)


class EntryDetails(NamedTuple):
    """An entry: what holds for it, where it is (after "it"), its description, and the changes of that."""

    entry: Entry
    standing: str
    metadata: dict[str, Any]
    history: list[Change]


@action("entries.show", "GET /api/v1/maintenance/entries/{entry}", help="all about an entry", view=views.entry)
def show(ctx: ActionContext, entry: EntryParam) -> EntryDetails:
    """Return what holds for an entry, its description and the changes of that. For maintainers."""
    require_maintainer(ctx.user)
    held, metadata = entries.look(ctx, entry)
    with ctx.database.read() as session:
        standing = entry_queries.standings(session, [entry])[entry]
    return EntryDetails(held, standing, metadata=metadata, history=entries.history(ctx, entry))
