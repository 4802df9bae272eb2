"""Contradictions in published figures: what no counts over any denominators can produce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from benchmark.number_check.counts import mean_of_figures_prints, right_range
from benchmark.number_check.figures import Figures, points
from benchmark.spec import BenchmarkSpec, Split
from common.messages import _, in_words


def contradictions(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what no counts over any denominators can produce, however the figures were rounded."""
    spec = figures.spec
    names = dict(zip(spec.category_keys, figures.categories, strict=True))
    known = {name: printed for name, printed in names.items() if printed is not None}
    for name, printed in known.items():
        size = max(split.sizes[spec.category_keys.index(name)] for split in splits)
        low, high = right_range(printed, np.arange(1, size + 1), reading="either")
        if not (low <= high).any():
            yield _(
                "{name} {value} is not a share of any number of pairs up to {size}.",
                name=_(spec.title_of(name)),
                value=printed,
                size=size,
            )
    ranges = [printed.range("either") if printed else (Fraction(0), Fraction(1)) for printed in names.values()]
    if figures.mean is not None and known:
        low, high = (sum(bounds, start=Fraction(0)) / len(ranges) for bounds in zip(*ranges, strict=True))
        stated = figures.mean.range("either")
        if (stated[1] < low or stated[0] > high) and not mean_of_figures_prints(figures, "either"):
            every = _("the mean of the {ranges} categories", ranges=in_words(len(ranges)))
            what = every if len(known) == len(ranges) else _("a mean with the categories given")
            between = _("{low} and {high}", low=points(low), high=points(high))
            yield _(
                "{spec} {mean} is not {what}, which lies between {between}.",
                spec=mean_title(spec),
                mean=figures.mean,
                what=what,
                between=between,
            )
    if figures.pooled is not None and len(known) == len(ranges):
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        stated = figures.pooled.range("either")
        if stated[1] < low or stated[0] > high:
            outside = _("outside the {ranges} categories", ranges=in_words(len(ranges)))
            yield (
                _(
                    "{pooled} {pooled2} is {outside} ({low} to {high}): no weights make it their average.",
                    pooled=_(spec.title_of(spec.pooled)),
                    pooled2=figures.pooled,
                    outside=outside,
                    low=points(low),
                    high=points(high),
                )
            )


def mean_title(spec: BenchmarkSpec) -> str:
    """Return how sentences call the mean of categories."""
    return _(spec.title_of(str(spec.mean)))
