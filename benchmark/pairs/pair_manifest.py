"""Manifest of a benchmark's pairs: facts about items, no text and no label.

Both responses stand in the order of their fingerprints, since the stored order may be the label (chosen, rejected).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmark.items import presentation_order
from benchmark.pairs.labelled_pairs import LabelledPair, PairSet


def pair_manifest(editions: Sequence[PairSet]) -> dict[str, Any]:
    """Return the manifest of one or more editions of a benchmark, pairs in the order in which they first occur.

    A pair that occurs again within an edition is another item; its key ends in ``-2``, ``-3``.

    Raises:
        ValueError: there is no edition.
    """
    if not editions:
        raise ValueError("a manifest needs at least one edition")
    items: dict[str, dict[str, Any]] = {}
    for edition in editions:
        seen: Counter[str] = Counter()
        for row, pair in enumerate(edition.pairs):
            identity = f"{pair.id}\n{pair.key}"
            seen[identity] += 1
            item = items.setdefault(f"{identity}\n{seen[identity]}", _facts(pair, seen[identity]))
            item["rows"][edition.edition] = row
    names = [edition.edition for edition in editions]
    return {"benchmark": editions[0].spec.id, "editions": names, "items": list(items.values())}


def _facts(pair: LabelledPair, occurrence: int) -> dict[str, Any]:
    first, second = presentation_order(pair.responses)
    return {
        "key": pair.key if occurrence == 1 else f"{pair.key}-{occurrence}",
        "id": pair.id,
        "category": pair.category,
        "responses": [pair.responses[first], pair.responses[second]],
        "words": [pair.words[first], pair.words[second]],
        "rows": {},
    }
