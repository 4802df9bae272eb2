"""The definition (`spec.toml`) of an edition. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from vlrb.editions.pools.pool import DROPPED

_COLOURS = ("#b3541e", "#1b7f6b", "#6a4fb3", "#1f5fbf", "#8a6d00", "#a3195b", "#7a3b2e", "#3d6b1f")


def definition(
    naming: Mapping[str, str],
    *,
    tags: Sequence[str],
    sizes: Mapping[str, Mapping[str, int]],
    filtered_by: Sequence[str],
) -> str:
    """Return the text of a definition.

    ``naming``: id, title, licence and citation. ``tags``: error tags that pairs of any category may have. ``sizes``:
    edition key -> category -> pairs; the first edition is the whole one.
    """
    categories = [
        {"key": key, "title": key.replace("-", " ").capitalize(), "colour": colour, "tagged": bool(tags)}
        for key, colour in zip(next(iter(sizes.values())), cycle(_COLOURS), strict=False)
    ]
    items = {
        "id": "id", "question": "query", "responses": ["response_a", "response_b"], "category": ["category"],
        "label": "preferred", "label_values": {"a": "first", "b": "second"},
    }  # fmt: skip
    editions = [
        {"key": key, "title": f"{naming['title']}, {key}", "pairs": sum(held.values()), "sizes": held}
        for key, held in sizes.items()
    ]
    entries: dict[str, Any] = {
        **naming, "dataset": "", "public_labels": False, "drop_from_questions": DROPPED,
        "verdict_format": "official-sentence", "tags": tags, "tag_names": {tag: tag for tag in tags},
        "filtered_by": filtered_by, "items": items, "categories": categories, "editions": editions,
        "overalls": [
            {"key": "micro", "title": "All pairs alike", "kind": "micro"},
            {"key": "mean", "title": "Mean of the categories", "kind": "mean"},
        ],
    }  # fmt: skip
    return "".join(f"{name} = {_value(value)}\n" for name, value in entries.items())


def _value(value: Any) -> str:
    """Return a TOML value; escapes of strings are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
