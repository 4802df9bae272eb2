"""Items under review: names, texts and votes of the judges. Never a label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from maintenance.types import Conflict, NotFound
from storage.boards.shown_entries import shown_entries
from storage.database import Database
from storage.integrity import stored_votes
from storage.integrity.integrity_alarms import RecordChanged
from vlrb.benchmarks.items import ItemTable, presentation_order
from vlrb.common.messages import _
from vlrb.statistics.reliability import majority
from vlrb.votes import unpack_many, without_labels

_KEY = re.compile(r"([0-9a-f]{8,64})(-[0-9]{1,3})?")
_CHUNK = 500


def find_item(table: ItemTable, name: str) -> int:
    """Return the item index of a key, of enough of its first digits, or of an id that only one item has.

    Raises NotFound, Conflict.
    """
    match = _KEY.fullmatch(name)
    if match:
        suffix = match[2] or ""
        known = enumerate(item.key for item in table.items)
        indexes = [index for index, key in known if key.startswith(match[1]) and key[64:] == suffix]
        if len(indexes) == 1:
            return indexes[0]
    named = table.by_id(name)
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        keys = ", ".join(_short_key(table.items[index].key) for index in named)
        message = _(
            "{count} pairs have the id {name!r}. Name one by its key: {keys}.",
            count=len(named),
            name=name[:80],
            keys=keys,
        )
        raise Conflict("ambiguous-item", message)
    raise NotFound(_("There is no pair {name!r}.", name=name[:80]))


def _short_key(key: str) -> str:
    """Enough of a key to name the item, with what tells repetitions apart."""
    return key[:12] + key[64:]


def short_name(table: ItemTable, index: int) -> str:
    """Return what people call an item: its id in the newest revision that has it."""
    ids = table.items[index].ids
    return next(ids[revision] for revision in reversed(table.revisions) if revision in ids)


def pair_names(table: ItemTable) -> dict[str, str]:
    """Return item key -> what people call the item."""
    return {item.key: short_name(table, index) for index, item in enumerate(table.items)}


def vote_counts(database: Database, table: ItemTable, *, indices: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """Return item index -> how many entries on the board prefer A, prefer B, and are undecided. Raises Conflict where
    stored votes are not those that were accepted."""
    if not indices:
        return {}
    counts = np.zeros((len(indices), 3), dtype=np.int64)
    with database.read() as session:
        shown = shown_entries(session, table.benchmark)
    for start in range(0, len(shown), _CHUNK):
        try:
            entries = stored_votes.read(database, shown[start : start + _CHUNK])
        except RecordChanged as changed:
            raise Conflict("record-changed", str(changed)) from None
        for k, same in groupby(entries, key=lambda entry: entry.k):
            counts += _counted(table, indices, k=k, packed=[entry.packed for entry in same])
    return {index: (int(a), int(b), int(no)) for index, (a, b, no) in zip(indices, counts.tolist(), strict=True)}


def _counted(table: ItemTable, indices: Sequence[int], *, k: int, packed: list[bytes]) -> np.ndarray:
    """Return (indices, 3): votes for A, for B, for neither."""
    verdicts = majority(without_labels(unpack_many(packed, len(table), k=k)[:, list(indices), :]))
    order = np.array([presentation_order(table.items[index].responses) for index in indices])
    columns = [
        (verdicts == order[:, 0]).sum(axis=0),
        (verdicts == order[:, 1]).sum(axis=0),
        (verdicts == -1).sum(axis=0),
    ]
    return np.stack(columns, axis=1)
