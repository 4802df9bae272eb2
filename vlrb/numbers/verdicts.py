"""Verdicts on published figures: what the number check says of a result, in the few facts that a table shows.

The check takes up to a second, so it is made once: of results that a definition ships by `python -m scripts.generated`,
of imported ones when they are read. What is stored is known by the figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined, ngettext
from vlrb.numbers.check import check_numbers
from vlrb.numbers.contradictions import contradictions_of_mean
from vlrb.numbers.figures import read_figures

STORED = "arithmetic.json"
"""The verdicts on the results that come with a definition, in its folder."""
ADDS_UP, OTHER_CATEGORIES, CONTRADICTS, UNCHECKED = "adds-up", "other-categories", "contradicts", "not-checkable"
EXCHANGED, LEFT_OUT = "columns-exchanged", "pairs-left-out"
StoredVerdicts = Mapping[str, Sequence[Any]]
"""``key`` of the figures -> the fields of a verdict, but for the definition."""


@dataclass(frozen=True, slots=True)
class FiguresVerdict:
    """What is said of figures. ``grouping``, ``sizes``: which they follow, the official ones where these fit; None
    where they follow none. ``left_out``: the fewest pairs without which they fit. ``states_mean``: whether the mean
    that they state is that of their categories."""

    verdict: str
    grouping: str | None
    sizes: tuple[int, ...] | None
    left_out: int
    states_mean: bool | None
    spec: BenchmarkSpec

    @property
    def remark(self) -> str:
        """What is wrong with the figures in a few words; "" where nothing is known to be."""
        if self.verdict == CONTRADICTS and self.states_mean is False:
            return _("{mean} average does not match", mean=_(str(self.spec.mean)))
        if self.verdict == OTHER_CATEGORIES:
            return _("fits {grouping}", grouping="/".join(map(str, self.sizes or ())))
        if self.verdict == EXCHANGED:
            return _("fits with {columns} exchanged", columns=joined(self.spec.exchanged, _(" and ")))
        if self.verdict == LEFT_OUT:
            return ngettext("fits with {n:,} pair left out", "fits with {n:,} pairs left out", self.left_out)
        return _("categories do not add up") if self.verdict == CONTRADICTS else ""

    def stored(self) -> list[Any]:
        """Return what is kept of it."""
        return [self.verdict, self.grouping, self.sizes and list(self.sizes), self.left_out, self.states_mean]


def key(figures: Mapping[str, Any], spec: BenchmarkSpec) -> str:
    """Return what stored verdicts are known by."""
    return " ".join(str(figures.get(name)) for name in spec.score_names)


def verdict_on(
    figures: Mapping[str, Any], spec: BenchmarkSpec, *, stored: StoredVerdicts | None = None
) -> FiguresVerdict:
    """Return the verdict on the figures of a result: a stored one, or else one made now."""
    name = key(figures, spec)
    known = (stored or {}).get(name) or _shipped(spec).get(name)
    if known is None:
        return _checked(tuple(figures.get(score) for score in spec.score_names), spec)
    verdict, grouping, sizes, left_out, states_mean = known
    return FiguresVerdict(verdict, grouping, sizes and tuple(sizes), left_out, states_mean, spec=spec)


@cache
def _shipped(spec: BenchmarkSpec) -> StoredVerdicts:
    content: StoredVerdicts = json.loads(spec.read(STORED) or b"{}")
    return content


@lru_cache(4096)
def _checked(values: tuple[float | None, ...], spec: BenchmarkSpec) -> FiguresVerdict:
    figures = dict(zip(spec.score_names, values, strict=True))
    overall = figures[spec.pooled]
    mean = figures.get(spec.mean or "")
    if not spec.splits or None in map(figures.get, spec.category_keys) or (overall, mean) == (None, None):
        return FiguresVerdict(UNCHECKED, None, None, 0, None, spec=spec)
    published = read_figures(figures, spec)
    found = check_numbers(published)
    states_mean = None if published.mean is None else not any(contradictions_of_mean(published))
    plain = [fit for fit in found.fits if not fit.exchanged]
    if found.impossible or not (found.fits or found.dropped):
        return FiguresVerdict(CONTRADICTS, None, None, 0, states_mean, spec=spec)
    if not found.fits:
        return FiguresVerdict(LEFT_OUT, None, None, found.dropped[0].dropped, states_mean, spec=spec)
    if not plain:
        return FiguresVerdict(EXCHANGED, None, None, 0, states_mean, spec=spec)
    first = next((fit.split for fit in plain if fit.split.grouping == spec.official), plain[0].split)
    verdict = ADDS_UP if first.grouping == spec.official else OTHER_CATEGORIES
    told = overall is not None  # without it, the categories alone fit every split
    grouping, sizes = (first.grouping, first.sizes) if told else (None, None)
    return FiguresVerdict(verdict, grouping, sizes, 0, states_mean, spec=spec)
