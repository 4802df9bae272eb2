"""Entry search by model, owner, state and day, and one decision about all that match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.actions import entries
from maintenance.actions.entries import field_text, shown_history
from maintenance.database import entry_queries
from maintenance.database.entry_queries import EntryFilter, EntryRow
from maintenance.database.queries import Change
from maintenance.registry import EntryParam, ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, Entry, clean_reason, plural
from maintenance.view import NOTHING, Row, Table, TableCell, View, entry_link
from storage.clock import minute
from storage.metadata import label

MOST = 100
"""Entries of a page."""
ANY = EntryFilter()
DECISIONS: Mapping[str, Callable[..., ActionResult]] = {
    "hide": entries.hide,
    "restore": entries.restore,
    "withdraw": entries.withdraw,
    "verify": entries.verify,
    "unverify": entries.unverify,
    "unflag": entries.unflag,
}
DecisionName = Annotated[str, ParamInfo("Decision", choices=tuple(DECISIONS))]
MatchCount = Annotated[
    int, ParamInfo("How many match", option="--count", metavar="N", help="how many match, as `entries list` says")
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


def _found(found: EntryMatches) -> View:
    head, rows = ("Judge", "Id", "Owner", "Submitted", "State"), [_row(entry) for entry in found.entries]
    table = Table(f"Entries ({found.number:,})", head, rows, "No such entry.", parameter="entry", shows="entries.show")
    return View(tables=[table], pages=(found.page, found.pages))


def _row(entry: EntryRow) -> Row:
    name, owner = f"{entry.model} {entry.version}".strip(), TableCell(entry.owner, account=True)
    cells = (entry_link(entry.id, name), entry.id, owner, minute(entry.submitted_at), entry.standing)
    return Row(cells, key=entry.id, name=f"{name} ({entry.id})", without=_impossible_decisions(entry))


def _impossible_decisions(entry: EntryRow) -> list[str]:
    """Return the decisions that would change nothing about an entry."""
    without = {
        "entries.hide": entry.standing == "is hidden",
        "entries.withdraw": entry.standing == "is withdrawn",
        "entries.restore": entry.standing not in ("is hidden", "is withdrawn"),
        "entries.verify": entry.verified,
        "entries.unverify": not entry.verified,
        "entries.unflag": not entry.noted,
    }
    return [name for name, useless in without.items() if useless]


@action("entries.list", "GET /api/v1/maintenance/entries", view=_found)
def search(ctx: ActionContext, filters: EntryFilter = ANY) -> EntryMatches:
    """Show entries with their owners and states, the newest first. For maintainers."""
    offset = (filters.page - 1) * MOST
    with ctx.database.read() as session:
        rows, number = entry_queries.search(session, ctx.benchmark, filters=filters, limit=MOST, offset=offset)
    return EntryMatches(tuple(rows), number, page=filters.page)


@action("entries.decide", "POST /api/v1/maintenance/entries/decide", button="Decide about all that match", danger=True)
def decide_all(
    ctx: ActionContext, decision: DecisionName, *, reason: Reason, count: MatchCount, filters: EntryFilter = ANY
) -> ActionResult:
    """Make one decision about all entries that match, each with an event of its own; `count` says how many these are.

    For maintainers. Nothing is done where another number matches by now.
    """
    why = clean_reason(reason)
    if decision not in DECISIONS:
        raise Conflict("bad-decision", f"A decision is one of {', '.join(DECISIONS)}.")
    with ctx.database.read() as session:
        rows, number = entry_queries.search(session, ctx.benchmark, filters=filters, limit=count + 1)
    if number != count:
        raise Conflict("other-count", f"{plural(number, 'entry matches', many='entries match')}, not {count}.")
    changed = sum(DECISIONS[decision](ctx, row.id, reason=why).changed for row in rows)
    return ActionResult(changed > 0, f"{decision}: {changed} of {plural(number, 'entry', many='entries')} changed.")


class EntryDetails(NamedTuple):
    """An entry: what holds for it, where it is (after "it"), its description, and the changes of that."""

    entry: Entry
    standing: str
    metadata: dict[str, Any]
    history: list[Change]


def _details(details: EntryDetails) -> View:
    held = details.entry
    facts = [
        ("State", f"The entry {details.standing}."),
        ("Reason shown", held.withdrawn_reason or NOTHING),
        ("Verified", "no" if held.verified_at is None else minute(held.verified_at)),
        ("Public note", held.flag or NOTHING),
        ("Owner", held.owner),
        *((label(name), field_text(value)) for name, value in details.metadata.items() if value not in (None, "")),
    ]
    return View(facts=facts, tables=shown_history(details.history).tables)


@action("entries.show", "GET /api/v1/maintenance/entries/{entry}", view=_details)
def show(ctx: ActionContext, entry: EntryParam) -> EntryDetails:
    """Show what holds for an entry, its description and the changes of that. For maintainers."""
    held, metadata = entries.look(ctx, entry)
    with ctx.database.read() as session:
        standing = entry_queries.standing(session, entry=entry)
    return EntryDetails(held, standing, metadata=metadata, history=entries.history(ctx, entry))
