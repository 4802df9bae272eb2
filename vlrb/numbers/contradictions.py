"""Contradictions in published figures: what no counts over any denominators can produce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from vlrb.benchmarks.spec import Split
from vlrb.common.messages import _, in_words
from vlrb.numbers.counts import mean_of_figures_prints, right_range
from vlrb.numbers.figures import Figures, points


def contradictions(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what no counts over any denominators can produce, however the figures were rounded."""
    yield from _of_categories(figures, splits)
    yield from contradictions_of_mean(figures)
    yield from _of_pooled(figures)


def _of_categories(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    spec = figures.spec
    for position, (name, printed) in enumerate(zip(spec.category_keys, figures.categories, strict=True)):
        if printed is None:
            continue
        size = max(split.sizes[position] for split in splits)
        low, high = right_range(printed, np.arange(1, size + 1), reading="either")
        if not (low <= high).any():
            yield _(
                "{name} {value} is not a share of any number of pairs up to {size}.",
                name=_(spec.title_of(name)),
                value=printed,
                size=size,
            )


def contradictions_of_mean(figures: Figures) -> Iterator[str]:
    """Yield how the mean contradicts the categories, if it does."""
    if figures.mean is None or not any(figures.categories):
        return
    ranges = _ranges(figures)
    low, high = (sum(bounds, start=Fraction(0)) / len(ranges) for bounds in zip(*ranges, strict=True))
    stated = figures.mean.range("either")
    if (stated[1] < low or stated[0] > high) and not mean_of_figures_prints(figures, "either"):
        every = _("the mean of the {ranges} categories", ranges=in_words(len(ranges)))
        what = every if None not in figures.categories else _("a mean with the categories given")
        between = _("{low} and {high}", low=points(low), high=points(high))
        yield _(
            "{spec} {mean} is not {what}, which lies between {between}.",
            spec=_(figures.spec.title_of(str(figures.spec.mean))),
            mean=figures.mean,
            what=what,
            between=between,
        )


def _of_pooled(figures: Figures) -> Iterator[str]:
    if figures.pooled is None or None in figures.categories:
        return
    ranges = _ranges(figures)
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    stated = figures.pooled.range("either")
    if stated[1] < low or stated[0] > high:
        yield _(
            "{pooled} {pooled2} is {outside} ({low} to {high}): no weights make it their average.",
            pooled=_(figures.spec.title_of(figures.spec.pooled)),
            pooled2=figures.pooled,
            outside=_("outside the {ranges} categories", ranges=in_words(len(ranges))),
            low=points(low),
            high=points(high),
        )


def _ranges(figures: Figures) -> list[tuple[Fraction, Fraction]]:
    """Return per category the lowest and highest share that its figure can stand for."""
    return [printed.range("either") if printed else (Fraction(0), Fraction(1)) for printed in figures.categories]
