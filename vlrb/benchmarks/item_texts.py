"""Item texts for the explore page, exported from dataset files without anything that reveals a label."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vlrb.benchmarks.items import ItemTable, response_fingerprint


def item_rows(rows: Iterable[Mapping[str, Any]], table: ItemTable) -> Iterator[dict[str, Any]]:
    """Dataset rows (``id``, ``query``, ``response`` of two texts, perhaps ``image_path``) as rows of the item file.

    Only the key, the id, the texts and the image's path are kept, and the responses are put into the order of their
    fingerprints: in one revision of the dataset nearly every preferred response is stored first, so the stored order
    would be a label.

    Raises:
        ValueError: a row is no pair of the benchmark, or a pair comes twice.
    """
    seen: set[int] = set()
    for number, row in enumerate(rows):
        try:
            query = row["query"]
            first, second = sorted(row["response"], key=response_fingerprint)
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
        yield texts


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
