"""Item texts for the explore page, exported from dataset files without anything that reveals a label."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vlrb.benchmarks.items import ItemTable, response_fingerprint
from vlrb.label_quality.annotation import TELLTALE


def item_rows(rows: Iterable[Mapping[str, Any]], table: ItemTable, *, models: bool = False) -> Iterator[dict[str, Any]]:
    """Dataset rows (``id``, ``query``, ``response`` of two texts, perhaps ``image_path``) as rows of the item file.

    Only the key, the id, the texts and the image's path are kept, and the responses are put into the order of their
    fingerprints: in one revision of the dataset nearly every preferred response is stored first, so the stored order
    would be a label. `models`: also which models wrote them, for the verification page, where both names are models'.

    Raises:
        ValueError: a row is no pair of the benchmark, or a pair comes twice.
    """
    seen: set[int] = set()
    for number, row in enumerate(rows):
        try:
            query, stored = row["query"], list(row["response"])
            first, second = sorted(stored, key=response_fingerprint)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"row {number}: a pair needs a query and a response of two texts") from None
        index = _index(row, query, responses=(first, second), table=table, seen=seen)
        if index is None:
            raise ValueError(f"row {number} ({row.get('id')}) is no pair of {table.benchmark}, or comes twice")
        seen.add(index)
        image = row.get("image_path") or row.get("image")
        texts = {"key": table.items[index].key, "id": row.get("id"), "query": query, "response": [first, second]}
        if isinstance(image, str):
            texts["image"] = image
        if models and (names := _models(row, stored == [first, second])):
            texts["models"] = names
        yield texts


def _models(row: Mapping[str, Any], in_order: bool) -> list[str] | None:
    names = row.get("models")
    if not isinstance(names, list | tuple) or len(names) != 2 or TELLTALE & set(names):
        return None
    return [str(name) for name in (names if in_order else reversed(names))]


def _index(
    row: Mapping[str, Any], query: str, *, responses: tuple[str, str], table: ItemTable, seen: set[int]
) -> int | None:
    """Return the pair with these texts; of several the one with the id, else the first that is left."""
    indexes = [index for index in table.by_fingerprint(table.fingerprint(query, responses)) if index not in seen]
    named = [index for index in indexes if row.get("id") in table.items[index].ids.values()]
    return next(iter(named or indexes), None)


def item_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one item a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
