"""The definition (`spec.toml`) of an edition. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
    categories = next(iter(sizes.values()))
    return "\n".join(
        _toml(
            {
                **naming,
                "dataset": "",
                "public_labels": False,
                "drop_from_questions": DROPPED,
                "verdict_format": "official-sentence",
                "headline": "micro",
                "tags": tags,
                "filtered_by": filtered_by,
                "items": {
                    "id": "id", "question": "query", "responses": ["response_a", "response_b"],
                    "category": ["category"], "label": "preferred", "label_values": {"a": "first", "b": "second"},
                },
                "tag_names": {tag: tag for tag in tags},
                "categories": [
                    {
                        "key": key, "title": key.replace("-", " ").capitalize(),
                        "colour": _COLOURS[number % len(_COLOURS)], "tagged": bool(tags),
                    }
                    for number, key in enumerate(categories)
                ],
                "overalls": [
                    {"key": "micro", "title": "All pairs alike", "kind": "micro"},
                    {"key": "mean", "title": "Mean of the categories", "kind": "mean"},
                ],
                "editions": [
                    {"key": key, "title": f"{naming['title']}, {key}", "pairs": sum(held.values()), "sizes": held}
                    for key, held in sizes.items()
                ],
            }
        )
    )  # fmt: skip


def _toml(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a TOML document: values, tables, and arrays of tables."""
    tables = {name: value for name, value in data.items() if isinstance(value, dict)}
    arrays = {
        name: value for name, value in data.items() if isinstance(value, list) and value[:1] and type(value[0]) is dict
    }
    yield from (f"{name} = {_value(value)}" for name, value in data.items() if name not in {*tables, *arrays})
    for name, table in tables.items():
        yield from ("", f"[{name}]", *(f"{_value(key)} = {_value(value)}" for key, value in table.items()))
    for name, rows in arrays.items():
        for row in rows:
            yield from ("", f"[[{name}]]", *(f"{key} = {_value(value)}" for key, value in row.items()))
    yield ""


def _value(value: Any) -> str:
    """Return a TOML value; escapes of strings are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
