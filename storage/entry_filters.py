"""Entry filters of a preview or a re-score, used by the use cases and by the workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FILTERS = ("model", "organisation", "judge_type", "base_model", "owner")
"""Fields that a scope may name under `where`."""


def matches_filter(entry: Mapping[Any, Any], scope: Mapping[str, Any]) -> bool:
    """Return whether an entry (its id, and FILTERS) is in a scope: `entries`, ids, and `where`, field -> text.

    All are where nothing is asked for; a text matches where the field holds it, in capitals or not.
    """
    if scope.get("entries") and entry["id"] not in scope["entries"]:
        return False
    return all(
        wanted.casefold() in str(entry.get(name) or "").casefold()
        for name, wanted in (scope.get("where") or {}).items()
    )
