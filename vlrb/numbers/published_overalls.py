"""Arithmetic of published percentages for any benchmark: which are possible, and which definition of overall they use.

A printed percentage is a whole number of pairs out of a known number, rounded or cut off. A printed overall number is
one of the named overalls of a definition, as far as the printed categories tell it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from vlrb.benchmarks.spec import GROUPS, MEAN, MICRO, BenchmarkSpec, CombinedCategories, ItemEdition, Overall
from vlrb.numbers.figures import figure

OVERALL, GROUPED = "overall", "groups"
Printed = Mapping[str, str]
"""Percentages as printed, by category key or that of combined ones; OVERALL is the micro average, GROUPED that of
whole groups."""


def reachable_counts(printed: str, n: int) -> range:
    """Return the counts of n that a percentage may stand for, rounded or cut off; an empty range where there is none.

    Raises:
        ValueError: it is no number, or nothing is counted (n = 0).
    """
    if n <= 0:
        raise ValueError("nothing is counted (n = 0)")
    low, high = _bounds(printed)
    return range(max(0, math.ceil(n * low / 100)), min(n, math.ceil(n * high / 100) - 1) + 1)


def unreachable_figures(figures: Printed, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the keys of the printed percentages that no count gives. ``sizes`` as of `figure_sizes`."""
    return tuple(
        key for key, printed in figures.items() if sizes.get(key) and not reachable_counts(printed, sizes[key])
    )


def figure_sizes(edition: ItemEdition, combined: Sequence[CombinedCategories] = ()) -> dict[str, int]:
    """Return by the key of a printed percentage of how many it is; without those that are not known."""
    stated = {key: size for key, size in edition.sizes.items() if size}
    sizes = {**stated, OVERALL: edition.pairs, GROUPED: sum(edition.groups.values())}
    for part in combined:
        sizes[part.key] = sum(stated[key] for key in part.categories) if stated.keys() >= set(part.categories) else 0
    return {key: size for key, size in sizes.items() if size}


def categories_add_up(figures: Printed, edition: ItemEdition) -> bool:
    """Return whether counts that give the printed categories add up to one that gives the printed overall."""
    ranges = [reachable_counts(figures[key], size) for key, size in edition.sizes.items()]
    overall = reachable_counts(figures[OVERALL], edition.pairs)
    if not overall or not all(ranges):
        return False
    low, high = sum(counts[0] for counts in ranges), sum(counts[-1] for counts in ranges)
    return low <= overall[-1] and overall[0] <= high


def fitting_overalls(figures: Printed, spec: BenchmarkSpec, *, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the keys of the overalls that give the printed ``overall`` from the printed categories.

    ``sizes``: pairs per category. An overall of which a category or a size is not given cannot be told and is left out.
    """
    ranges = (
        (overall, overall_range(overall, figures, sizes=sizes, combined=spec.combined)) for overall in spec.overalls
    )
    return tuple(
        overall.key
        for overall, value_range in ranges
        if value_range is not None and _meets(value_range, figures[OVERALL])
    )


def overall_range(
    overall: Overall, figures: Printed, *, sizes: Mapping[str, int], combined: Sequence[CombinedCategories] = ()
) -> tuple[Fraction, Fraction] | None:
    """Return the percentages between which an overall lies, from the printed categories; None where these do not tell.

    ``sizes``: pairs per category, all that there are.
    """
    if overall.kind == GROUPS or (overall.pairs is not None and overall.pairs != sum(sizes.values())):
        return None
    weights = _weights(overall, figures, sizes=sizes, combined=combined)
    held = [key for key, weight in weights.items() if weight]
    if not held or any(key not in figures for key in held):
        return None
    bounds = [_bounds(figures[key]) for key in held]
    total = sum(weights[key] for key in held)
    low, high = (
        sum((weights[key] * bound[side] for key, bound in zip(held, bounds, strict=True)), Fraction(0)) / total
        for side in (0, 1)
    )
    return low, high


def _weights(
    overall: Overall, figures: Printed, *, sizes: Mapping[str, int], combined: Sequence[CombinedCategories]
) -> dict[str, int]:
    """Return the weights of the printed figures in an overall number. Where one figure of several categories was
    printed instead of theirs, it has the pairs of all; a mean of categories needs each."""
    if overall.kind == MEAN:
        return dict.fromkeys(overall.categories, 1)
    weights = {key: sizes.get(key, 0) for key in overall.categories}
    for part in combined:
        instead = part.key in figures and any(key not in figures for key in part.categories)
        if instead and overall.kind == MICRO and all(weights.get(key) for key in part.categories):
            weights[part.key] = sum(weights.pop(key) for key in part.categories)
    return weights


def _meets(span: tuple[Fraction, Fraction], printed: str) -> bool:
    low, high = _bounds(printed)
    return span[0] <= high and low <= span[1]


def nearest_counts(printed: str, n: int) -> tuple[tuple[int, str], tuple[int, str]]:
    """Return the counts of n below and above a percentage that none gives, each with its percentage."""
    below = min(max(math.floor(n * Fraction(Decimal(printed)) / 100), 0), n - 1)
    lower, upper = (f"{float(Fraction(100 * count, n)):.2f}" for count in (below, below + 1))
    return (below, lower), (below + 1, upper)


def _bounds(printed: str) -> tuple[Fraction, Fraction]:
    """Return the lowest percentage that is printed so, and the lowest above all that are."""
    value = figure(printed)
    if value is None:
        raise ValueError("nothing was printed")
    low, above, _open = value.bounds("either")
    return Fraction(100 * low, value.scale), Fraction(100 * above, value.scale)
