"""Critics of the paper of a benchmark, shown as labelled points and never mixed with scored entries.

`paper_figures.json` of the definition holds them, with their source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from vlrb.benchmarks.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """What a paper prints of critics, in percent. Empty where the benchmark has none."""

    source: str = ""
    critics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # critic -> score -> percent
    notes: Sequence[str] = ()


@cache
def paper_figures(spec: BenchmarkSpec) -> PaperFigures:
    """Return the figures of a benchmark's paper."""
    content = spec.read("paper_figures.json")
    return PaperFigures() if content is None else PaperFigures(**json.loads(content))
