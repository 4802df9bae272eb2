"""Reference values from the paper of a benchmark, shown as labelled points and never mixed with scored entries.

`paper_figures.json` of the definition holds them, with their sources. Percent throughout. Where a figure prints no
number the value was read off it by eye, and its source says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message

FILE = "paper_figures.json"


@dataclass(frozen=True, slots=True)
class BestOfNResult:
    """A judge that picked among N answers of a policy: its score here, and the accuracy of what it picked."""

    judge: str
    score: float
    accuracy: float
    source: str


@dataclass(frozen=True, slots=True)
class PaperPolicy:
    """Whose answers were picked from, and how accurate they are without a judge."""

    name: str
    single: float | None  # one answer
    majority: float | None  # majority vote over the answers
    choices: tuple[BestOfNResult, ...]


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """What a paper prints. Empty where the benchmark has none."""

    critics_source: str = ""
    choices_n: int = 0
    base: str = ""  # the heading of the critics
    policies: tuple[PaperPolicy, ...] = ()
    critics: Mapping[str, Mapping[str, float]] | None = None  # critic -> score -> percent
    notes: Mapping[str, Sequence[str]] | None = None  # chart -> sentences

    @property
    def sources(self) -> Iterator[str]:
        """Where the figures are from."""
        yield self.critics_source
        for policy in self.policies:
            yield from (choice.source for choice in policy.choices)

    def notes_on(self, chart: str) -> tuple[str, ...]:
        """Return the sentences about a chart."""
        return tuple(Message(text, {}) for text in (self.notes or {}).get(chart, ()))


@cache
def paper_figures(spec: BenchmarkSpec) -> PaperFigures:
    """Return the figures of a benchmark's paper."""
    content = spec.read(FILE)
    return PaperFigures() if content is None else _read(json.loads(content))


def _read(data: Mapping[str, Any]) -> PaperFigures:
    policies = tuple(_policy(row) for row in data["policies"])
    return PaperFigures(**{**data, "critics_source": Message(data["critics_source"], {}), "policies": policies})


def _policy(row: Mapping[str, Any]) -> PaperPolicy:
    choices = tuple(BestOfNResult(**{**choice, "source": Message(choice["source"], {})}) for choice in row["choices"])
    return PaperPolicy(row["name"], row["single"], majority=row["majority"], choices=choices)
