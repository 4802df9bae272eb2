"""Anonymous entries of a snapshot: anyone who groups or compares entries by anything but their own row asks here.
Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_anonymous(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry of a snapshot is shown without its owner."""
    return entry.get("anonymous_until") is not None


def anonymous_entries(snapshot: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the entries of a snapshot that are shown without their owner."""
    return frozenset(entry["id"] for entry in snapshot["entries"] if is_anonymous(entry))
