"""Parts of a report in words for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.common.command_line import translated
from vlrb.common.messages import _


def sample_lines(report: Mapping[str, Any]) -> list[str]:
    """Return the sample replies of a report or a refusal, each with what was read from it; no line where there are
    none."""
    samples = report.get("samples") or []
    lines = [line for sample in samples for line in _sample(sample)]
    return [_("  sample replies, and what was read from each"), *lines] if lines else []


def _sample(sample: Mapping[str, Any]) -> list[str]:
    reply = f"    {sample['id']}: {sample['reply'] or translated(_('(empty)'))}"
    return [*reply.split("\n"), _("      read as: {read}", read=sample["read"])]


def benchmark_title(benchmark: str, definitions: Path) -> str:
    """Return how people call a benchmark; its id where its definition is not in the directory."""
    return load_spec(benchmark, definitions).title if benchmark in known_benchmarks(definitions) else benchmark


def score_title(benchmark: str, name: str) -> str:
    """Return how people call a score of a benchmark; its key where the definition is not here."""
    return load_spec(benchmark).title_of(name) if benchmark in known_benchmarks() else name
