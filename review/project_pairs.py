"""Pairs of annotation projects, as an annotator may see them: never a preference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from maintenance.action_context import ItemLookup
from maintenance.types import NotFound
from vlrb.benchmarks.items import ItemTable
from vlrb.common.messages import _

Two = tuple[str, str]


class PairContent(NamedTuple):
    """What a pair asks. Responses and models: A, then B. `image`: an address. None: the installation has none."""

    query: str | None
    responses: Two | None
    image: str | None
    models: Two | None


_NOTHING = PairContent(None, None, image=None, models=None)


def content(items: ItemLookup, key: str) -> PairContent:
    """Return a pair of the benchmark. Raises NotFound where it is not there any more."""
    index = _index(items.table, key)
    texts = items.texts[index] if items.texts else None
    if texts is None:
        return _NOTHING
    image = f"/explore/{key}/image" if items.image(texts.image) else None
    return PairContent(texts.query, texts.responses, image=image, models=texts.models)


def _index(table: ItemTable, key: str) -> int:
    result = next((index for index, item in enumerate(table.items) if item.key == key), None)
    if result is None:
        raise NotFound(_("This pair is not in the benchmark any more."))
    return result


def in_order(pair: Two, seen: Sequence[int]) -> Two:
    """Return what belongs to A and B in the order in which somebody sees them."""
    return pair[seen[0]], pair[seen[1]]
