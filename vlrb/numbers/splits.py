"""Check of published figures against the sizes in circulation: the counts, grouping and revision behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from vlrb.arrays import IntArray
from vlrb.benchmarks.spec import Split
from vlrb.common.messages import _, in_words
from vlrb.numbers.figures import Figures, PublishedFigure, Reading, Shares, meet, points, weighted_range

FitOutcome = Literal["fits", "not found", "impossible"]
Right = tuple[int | None, ...]
_READINGS: tuple[Reading, ...] = ("rounded", "cut off", "either")
_MOST_CELLS = 200_000  # combinations of counts looked at one by one


@dataclass(frozen=True, slots=True)
class Explanation:
    """Counts that produce the published figures under one split.

    ``right`` is None where the figures leave a category open. ``solutions``: how many different counts do it (0: only
    bounds were compared, the figures say too little); with more than one, ``right`` is the one nearest to the figures.
    ``exchanged``: fits only with the figures of two categories exchanged; ``right`` is then that of the true ones.
    """

    split: Split
    reading: Reading
    right: Right
    solutions: int
    exchanged: bool = False


@dataclass(frozen=True, slots=True)
class Plausibility:
    """The answer. Only if nothing fits, ``categories_alone``: what fits without overall and macro. ``implied``: splits
    with the lowest and highest overall (percent) that the categories imply. ``impossible``: what no counts over any
    denominators give. ``states_mean``: whether there is a mean that the categories can have."""

    figures: Figures
    verdict: FitOutcome
    fits: tuple[Explanation, ...]
    categories_alone: tuple[Explanation, ...]
    implied: tuple[tuple[Split, float, float], ...]
    impossible: tuple[str, ...]
    states_mean: bool


def check_numbers(figures: Figures) -> Plausibility:
    """Return which counts, grouping and revision are behind published percentages.

    A macro that cannot be the mean of the categories is said to be impossible and then set aside, so that the
    other figures still get their explanation.

    Raises:
        ValueError: no split is known.
    """
    spec = figures.spec
    if not spec.splits:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    wrong_mean = list(_impossible_mean(figures))
    impossible = (*_impossible_categories(figures), *wrong_mean, *_impossible_pooled(figures))
    rest = figures.without_mean() if wrong_mean else figures
    fits = _fits(rest, readings=_READINGS)
    if not fits and spec.exchanged and None not in (*figures.categories, figures.pooled):
        exchanged = rest.with_values(dict(zip(spec.exchanged, map(rest.values.get, spec.exchanged[::-1]), strict=True)))
        fits = _fits(exchanged, exchanged=True)
    alone: tuple[Explanation, ...] = ()
    if not fits and None not in figures.categories:
        alone = _fits(rest.without_mean().with_values({spec.pooled: None}))
    return Plausibility(
        figures,
        "impossible" if impossible else "fits" if fits else "not found",
        fits=fits,
        categories_alone=alone,
        implied=tuple(_implied(figures)),
        impossible=impossible,
        states_mean=figures.mean is not None and not wrong_mean,
    )


def mean_of_figures_prints(figures: Figures, reading: Reading) -> bool:
    """Return whether the macro is the mean of the printed categories: some authors average what they had rounded."""
    known = [category for category in figures.categories if category is not None]
    if len(known) < len(figures.categories) or figures.mean is None:
        return False
    mean = sum((printed.share for printed in known), start=Fraction(0)) / len(known)
    return figures.mean.prints(mean, reading)


def _fits(
    figures: Figures, *, readings: Sequence[Reading] = ("rounded",), exchanged: bool = False
) -> tuple[Explanation, ...]:
    """Return all splits that fit on full denominators, under the plainest reading that gives any.

    A looser reading beside a plainer one that fits would only add coincidences.
    """
    for reading in readings:
        solved = ((split, _solve(figures, split.sizes, reading=reading)) for split in figures.spec.splits)
        fits = tuple(
            Explanation(split, reading, *solution, exchanged=exchanged) for split, solution in solved if solution
        )
        if fits:
            return fits
    return ()


def _solve(figures: Figures, sizes: Sequence[int], *, reading: Reading) -> tuple[Right, int] | None:
    """Return (right per category, solutions) over exactly these denominators, or None if no counts do it."""
    ranges = [
        printed.counts(n, reading) if printed else (0, n) for printed, n in zip(figures.categories, sizes, strict=True)
    ]
    if any(low > high for low, high in ranges):
        return None
    mean = None if mean_of_figures_prints(figures, reading) else figures.mean
    if np.prod([high - low + 1 for low, high in ranges]) > _MOST_CELLS:
        if not _within_bounds(figures.pooled, mean, ranges, sizes=np.array(sizes), reading=reading):
            return None
        return tuple(int(low) if low == high else None for low, high in ranges), 0
    counts = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int64) for low, high in ranges), indexing="ij")
    fits = np.ones(counts[0].shape, dtype=bool)
    if figures.pooled is not None:
        fits &= _between(sum(counts), figures.pooled.counts(sum(sizes), reading))
    if mean is not None:
        product = int(np.prod(sizes))
        scaled = sum(k * (product // n) for k, n in zip(counts, sizes, strict=True))
        fits &= _between(scaled, mean.counts(len(sizes) * product, reading))
    if not fits.any():
        return None
    result = np.stack([k[fits] for k in counts])
    return _nearest(figures, result, sizes=sizes), result.shape[1]


def _between(right: Any, ends: tuple[Any, Any]) -> Any:
    return (ends[0] <= right) & (right <= ends[1])


def _within_bounds(
    pooled: PublishedFigure | None, mean: PublishedFigure | None, ranges: Any, *, sizes: IntArray, reading: Reading
) -> bool:
    """Return whether overall and macro are within what the counts of each category allow. Necessary, not sufficient."""
    fits, (low, high) = True, np.array(ranges).T
    if pooled is not None:
        least, most = pooled.counts(sizes.sum(), reading)
        fits &= bool(least <= high.sum() and most >= low.sum() and least <= most)
    if mean is not None:
        below, above = (float(len(sizes) * bound) for bound in mean.range(reading))
        fits &= bool((high / sizes).sum() >= below - 1e-9 and (low / sizes).sum() <= above + 1e-9)
    return fits


def _nearest(figures: Figures, counts: IntArray, *, sizes: Sequence[int]) -> Right:
    """Return the counts (categories, solutions) that are nearest to the figures; None for a category left open."""
    distance = np.zeros(counts.shape[1])
    for printed, k, n in zip(figures.categories, counts, sizes, strict=True):
        if printed is not None:
            distance += np.abs(k / n - float(printed.share))
    best = counts[:, int(distance.argmin())]
    return tuple(
        None if printed is None and k.min() != k.max() else int(value)
        for printed, k, value in zip(figures.categories, counts, best, strict=True)
    )


def _implied(figures: Figures) -> Iterator[tuple[Split, float, float]]:
    ranges = [category.range("rounded") for category in figures.categories if category is not None]
    for split in figures.spec.splits if len(ranges) == len(figures.categories) else ():
        low, high = weighted_range(list(zip(split.sizes, ranges, strict=True)))
        yield split, float(100 * low), float(100 * high)


def _impossible_categories(figures: Figures) -> Iterator[str]:
    spec = figures.spec
    for position, (name, printed) in enumerate(zip(spec.category_keys, figures.categories, strict=True)):
        size = max(split.sizes[position] for split in spec.splits)
        if printed is not None and not np.less_equal(*printed.counts(np.arange(1, size + 1), "either")).any():
            yield _(
                "{name} {value} is not a share of any number of pairs up to {size}.",
                name=_(spec.title_of(name)),
                value=printed,
                size=size,
            )


def _impossible_mean(figures: Figures) -> Iterator[str]:
    """Yield how the mean contradicts the categories, if it does."""
    if figures.mean is None or not any(figures.categories):
        return
    ranges = _ranges(figures)
    low, high = weighted_range([(1, shares) for shares in ranges])
    if not meet((low, high), figures.mean.range("either")) and not mean_of_figures_prints(figures, "either"):
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


def _impossible_pooled(figures: Figures) -> Iterator[str]:
    if figures.pooled is None or None in figures.categories:
        return
    ranges = _ranges(figures)
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    if not meet((low, high), figures.pooled.range("either")):
        yield _(
            "{pooled} {pooled2} is {outside} ({low} to {high}): no weights make it their average.",
            pooled=_(figures.spec.title_of(figures.spec.pooled)),
            pooled2=figures.pooled,
            outside=_("outside the {ranges} categories", ranges=in_words(len(ranges))),
            low=points(low),
            high=points(high),
        )


def _ranges(figures: Figures) -> list[Shares]:
    """Return per category the lowest and highest share that its figure can stand for."""
    return [printed.range("either") if printed else (Fraction(0), Fraction(1)) for printed in figures.categories]
