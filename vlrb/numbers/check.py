"""Check of published figures against the sizes in circulation: the counts, grouping and revision behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from vlrb.benchmarks.spec import Split
from vlrb.common.messages import _
from vlrb.numbers.contradictions import contradictions, contradictions_of_mean
from vlrb.numbers.counts import Explanation, full_fits
from vlrb.numbers.figures import Figures

FitOutcome = Literal["fits", "not found", "impossible"]


@dataclass(frozen=True, slots=True)
class Implied:
    """The overall accuracy (percent) that the category figures imply on the pairs of a split."""

    split: Split
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plausibility:
    """The answer. Only if nothing fits, ``categories_alone``: what fits without overall and macro. ``impossible``: what
    no counts over any denominators give."""

    figures: Figures
    splits: Sequence[Split]
    verdict: FitOutcome
    fits: tuple[Explanation, ...]
    categories_alone: tuple[Explanation, ...]
    implied: tuple[Implied, ...]
    impossible: tuple[str, ...]


def check_numbers(figures: Figures, splits: Sequence[Split] | None = None) -> Plausibility:
    """Return which counts, grouping and revision are behind published percentages.

    A macro that cannot be the mean of the categories is said to be impossible and then set aside, so that the
    other figures still get their explanation. ``splits`` None: those that the definition states.

    Raises:
        ValueError: no split is known.
    """
    spec = figures.spec
    splits = spec.splits if splits is None else splits
    if not splits:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    impossible = tuple(contradictions(figures, splits))
    rest = figures.without_mean() if any(contradictions_of_mean(figures)) else figures
    fits = full_fits(rest, splits, readings=("rounded", "cut off", "either"))
    if not fits and spec.exchanged and None not in (*figures.categories, figures.pooled):
        exchanged = rest.with_values(dict(zip(spec.exchanged, map(rest.values.get, spec.exchanged[::-1]), strict=True)))
        fits = full_fits(exchanged, splits, readings=("rounded",), exchanged=True)
    alone: tuple[Explanation, ...] = ()
    if not fits and None not in figures.categories:
        alone = full_fits(rest.without_mean().with_values({spec.pooled: None}), splits, readings=("rounded",))
    return Plausibility(
        figures,
        splits,
        "impossible" if impossible else "fits" if fits else "not found",
        fits=fits,
        categories_alone=alone,
        implied=tuple(_implied(figures, splits)),
        impossible=impossible,
    )


def _implied(figures: Figures, splits: Sequence[Split]) -> Iterator[Implied]:
    ranges = [category.range("rounded") for category in figures.categories if category is not None]
    if len(ranges) < len(figures.categories):
        return
    for split in splits:
        low, high = (
            sum((n * share for n, share in zip(split.sizes, ends, strict=True)), start=Fraction(0)) / sum(split.sizes)
            for ends in zip(*ranges, strict=True)
        )
        yield Implied(split, float(100 * low), high=float(100 * high))
