"""Items under review by their names."""

from __future__ import annotations

from collections.abc import Sequence

from maintenance.types import Conflict, NotFound
from vlrb.benchmarks.items import ItemTable
from vlrb.common.messages import _


def find_item(table: ItemTable, name: str) -> int:
    """Return the item index of a key, or of an id that only one item has. Raises NotFound, Conflict."""
    named: Sequence[int] = [index for index, item in enumerate(table.items) if item.key == name]
    named = named or table.by_id(name)
    if len(named) == 1:
        return named[0]
    if named:
        keys = ", ".join(table.items[index].key for index in named)
        message = _(
            "{count} pairs have the id {name!r}. Name one by its key: {keys}.",
            count=len(named),
            name=name[:80],
            keys=keys,
        )
        raise Conflict("ambiguous-item", message)
    raise NotFound(_("There is no pair {name!r}.", name=name[:80]))


def pair_names(table: ItemTable) -> dict[str, str]:
    """Return item key -> what people call the item: its id in the newest revision that has it."""
    newest = table.revisions[::-1]
    return {item.key: next(item.ids[revision] for revision in newest if revision in item.ids) for item in table.items}
