"""Check of printed percentages against a definition: which overall a row states, and what no count gives.

A printed percentage is a whole number of pairs out of a known number, rounded or cut off. A printed overall number is
one of the named overalls of a definition, as far as the printed categories tell it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from vlrb.benchmarks.spec import GROUPS, MEAN, MICRO, BenchmarkSpec, ItemEdition, Overall
from vlrb.common.messages import _
from vlrb.numbers.figures import PublishedFigure, meet, weighted_range

FITS, OTHER_COUNTS, NO_DEFINITION, IMPOSSIBLE, UNTOLD = "fits", "counts differ", "no definition", "impossible", "untold"
OVERALL, GROUPED = "overall", "groups"
Printed = Mapping[str, PublishedFigure]
"""Percentages by category key or that of combined ones; OVERALL is the micro average, GROUPED that of whole groups."""


@dataclass(frozen=True, slots=True)
class StatedOverall:
    """An overall number of the definition: the percentages that the printed categories allow, and whether it fits.

    ``fits`` None: no overall was printed.
    """

    key: str
    title: str
    low: float
    high: float
    fits: bool | None


@dataclass(frozen=True, slots=True)
class UnreachableFigure:
    """A printed percentage that no count of ``n`` gives, and the counts next to it with their percentages."""

    name: str
    printed: str
    n: int
    below: tuple[int, str]
    above: tuple[int, str]


@dataclass(frozen=True, slots=True)
class DefinitionCheck:
    """The answer. ``adds_up``: whether counts behind the categories add up to the overall; None where that is open."""

    spec: BenchmarkSpec
    edition: ItemEdition
    figures: Printed
    overalls: tuple[StatedOverall, ...]
    unreachable: tuple[UnreachableFigure, ...]
    adds_up: bool | None

    @property
    def fitting(self) -> tuple[str, ...]:
        """The overall numbers that the printed one may be."""
        return tuple(overall.key for overall in self.overalls if overall.fits)

    @property
    def definitions(self) -> tuple[str, ...]:
        """Those, one of each definition: of two over the same pairs of the edition the one that says which pairs."""
        pairs: dict[tuple[bool, frozenset[str]], str] = {}
        for key in self.fitting:
            held = frozenset(part for part in self.spec.parts_of(key) if self.edition.likely_sizes.get(part))
            pairs[self.spec.is_mean(key), held] = key
        return tuple(pairs.values())

    @property
    def verdict(self) -> str:
        """One of FITS, OTHER_COUNTS, NO_DEFINITION, IMPOSSIBLE, UNTOLD.

        An impossible figure decides only where all sizes are known for certain.
        """
        if self.unreachable and not self.edition.inferred:
            return IMPOSSIBLE
        if OVERALL not in self.figures or not self.overalls:
            return UNTOLD
        if not self.fitting:
            return NO_DEFINITION
        return OTHER_COUNTS if self.adds_up is False and self.fitting == (self.spec.pooled,) else FITS


def printed_names(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the names of the percentages that can be checked."""
    if spec.splits or not spec.editions:
        return spec.score_names
    return (OVERALL, *spec.category_keys, *spec.combined_keys, *([GROUPED] if spec.grouped is not None else []))


def figure_names(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the names under which percentages can be given to the number check of a benchmark: also that of the score
    which the check calls GROUPED."""
    names = printed_names(spec)
    return (*names, spec.grouped.key) if GROUPED in names and spec.grouped is not None else names


def by_printed_name(given: Mapping[str, str], spec: BenchmarkSpec) -> dict[str, str]:
    """Return what was given under the names that can be checked, without outer white space; "" where nothing was."""
    texts = {name: given.get(name, "").strip() for name in printed_names(spec)}
    if GROUPED in texts and spec.grouped is not None:
        texts[GROUPED] = texts[GROUPED] or given.get(spec.grouped.key, "").strip()
    return texts


def check_definitions(figures: Printed, spec: BenchmarkSpec) -> DefinitionCheck:
    """Return what arithmetic says about printed percentages.

    Raises:
        ValueError: no edition is known.
    """
    edition = _edition_of(figures, spec)
    allowed = (_allowed(overall, figures, sizes=edition.likely_sizes, spec=spec) for overall in spec.overalls)
    overalls = tuple(overall for overall in allowed if overall is not None)
    whole = all(key in figures for key, size in edition.sizes.items() if size) and not edition.inferred
    adds_up = _categories_add_up(figures, edition) if whole and OVERALL in figures else None
    may_be_mean = edition.inferred or any(overall.fits and overall.key != spec.pooled for overall in overalls)
    counted = {key: figure for key, figure in figures.items() if key != OVERALL or not may_be_mean}
    unreachable = _unreachable(counted, _figure_sizes(edition, spec))
    return DefinitionCheck(spec, edition, figures=figures, overalls=overalls, unreachable=unreachable, adds_up=adds_up)


def _edition_of(figures: Printed, spec: BenchmarkSpec) -> ItemEdition:
    """Return the first edition that has pairs of every category with a figure; else the last."""
    if not spec.editions:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    parts = {part.key: part.categories for part in spec.combined}
    asked = {key for printed in figures for key in parts.get(printed, (printed,))}
    return next(
        (edition for edition in spec.editions if all(edition.likely_sizes.get(key) != 0 for key in asked)),
        spec.editions[-1],
    )


def _figure_sizes(edition: ItemEdition, spec: BenchmarkSpec) -> dict[str, int]:
    """Return by the key of a printed percentage of how many it is; without those that are not known."""
    stated = {key: size for key, size in edition.sizes.items() if size}
    sizes = {**stated, OVERALL: edition.pairs, GROUPED: sum(edition.groups.values())}
    for part in spec.combined:
        sizes[part.key] = sum(stated[key] for key in part.categories) if stated.keys() >= set(part.categories) else 0
    return {key: size for key, size in sizes.items() if size}


def _unreachable(figures: Printed, sizes: Mapping[str, int]) -> tuple[UnreachableFigure, ...]:
    result = []
    for key, figure in figures.items():
        n = sizes.get(key, 0)
        low, high = figure.counts(n, "either")
        if n and low > high:
            least = min(int(figure.share * n), n - 1)
            below, above = ((k, f"{float(Fraction(100 * k, n)):.2f}") for k in (least, least + 1))
            result.append(UnreachableFigure(key, str(figure), n, below, above))
    return tuple(result)


def _categories_add_up(figures: Printed, edition: ItemEdition) -> bool:
    """Return whether counts that give the printed categories add up to one that gives the printed overall."""
    ranges = [figures[key].counts(size, "either") for key, size in edition.sizes.items()]
    low, high = figures[OVERALL].counts(edition.pairs, "either")
    if low > high or any(least > most for least, most in ranges):
        return False
    return bool(sum(least for least, _ in ranges) <= high and low <= sum(most for _, most in ranges))


def _allowed(
    overall: Overall, figures: Printed, *, sizes: Mapping[str, int], spec: BenchmarkSpec
) -> StatedOverall | None:
    """Return what the printed categories allow an overall to be; None where these do not tell.

    ``sizes``: pairs per category, all that there are.
    """
    if overall.kind == GROUPS or (overall.pairs is not None and overall.pairs != sum(sizes.values())):
        return None
    weights = {key: weight for key, weight in _weights(overall, figures, sizes=sizes, spec=spec).items() if weight}
    if not weights or not figures.keys() >= weights.keys():
        return None
    known = weighted_range([(weight, figures[key].range("either")) for key, weight in weights.items()])
    fits = meet(known, figures[OVERALL].range("either")) if OVERALL in figures else None
    low, high = (round(float(100 * share), 4) for share in known)
    return StatedOverall(overall.key, overall.title, low, high, fits)


def _weights(overall: Overall, figures: Printed, *, sizes: Mapping[str, int], spec: BenchmarkSpec) -> dict[str, int]:
    """Return the weights of the printed figures in an overall number. Where one figure of several categories was
    printed instead of theirs, it has the pairs of all; a mean of categories needs each."""
    if overall.kind == MEAN:
        return dict.fromkeys(overall.categories, 1)
    weights = {key: sizes.get(key, 0) for key in overall.categories}
    for part in spec.combined:
        instead = part.key in figures and any(key not in figures for key in part.categories)
        if instead and overall.kind == MICRO and all(weights.get(key) for key in part.categories):
            weights[part.key] = sum(weights.pop(key) for key in part.categories)
    return weights
