"""Parts of a report in words for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sample_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the sample replies of a report or a refusal, each with what was read from it; no line where there are
    none."""
    samples = report.get("samples") or []
    lines = [
        f"    {sample['id']}: {sample['reply'] or '(empty)'}\n      read as: {sample['read']}" for sample in samples
    ]
    return ["  sample replies, and what was read from each", *"\n".join(lines).split("\n")] if lines else []


def printable(text: str) -> str:
    """Return a line in which control characters are shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
