"""Names of files in Hub datasets at a commit: ``owner/name@commit``, perhaps with a path behind it.

The commit is the whole hash: it never changes; a branch or a tag does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FORM = "owner/name@commit"
_SOURCE = re.compile(
    r"(?:hf://)?(?:datasets/)?(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})(?:/(?P<path>[^/\s][^\s]*))?", re.ASCII
)


class HubSource(NamedTuple):
    """Files of a dataset: all, or those at a path."""

    name: str
    commit: str
    path: str

    def __str__(self) -> str:
        return f"{self.name}@{self.commit}" + (f"/{self.path}" if self.path else "")


def parse_hub_source(text: str) -> HubSource | None:
    """Return what a text names; None where it has another form."""
    match = _SOURCE.fullmatch(text)
    if match is None or ".." in (match["path"] or "").split("/"):
        return None
    return HubSource(match["name"], match["commit"], path=match["path"] or "")
