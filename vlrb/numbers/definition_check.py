"""Check of printed percentages against a definition: which overall a row states, and what no count gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from vlrb.benchmarks.spec import BenchmarkSpec, ItemEdition
from vlrb.common.messages import _
from vlrb.numbers.published_overalls import (
    GROUPED,
    OVERALL,
    Printed,
    categories_add_up,
    figure_sizes,
    fitting_overalls,
    nearest_counts,
    overall_range,
    unreachable_figures,
)

FITS, OTHER_COUNTS, NO_DEFINITION, IMPOSSIBLE, UNTOLD = "fits", "counts differ", "no definition", "impossible", "untold"


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

    key: str
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
    return (OVERALL, *spec.category_keys, *spec.combined_keys, *([GROUPED] if spec.grouped is not None else []))


def figure_names(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the names under which percentages can be given to the number check of a benchmark: also that of the score
    which the check calls GROUPED."""
    if spec.splits or not spec.editions:
        return spec.score_names
    return (*printed_names(spec), *([spec.grouped.key] if spec.grouped is not None else []))


def by_printed_name(given: Mapping[str, str], spec: BenchmarkSpec) -> dict[str, str]:
    """Return what was given under the names that can be checked, without outer white space; "" where nothing was."""
    texts = {name: given.get(name, "").strip() for name in printed_names(spec)}
    if spec.grouped is not None:
        texts[GROUPED] = texts[GROUPED] or given.get(spec.grouped.key, "").strip()
    return texts


def edition_of(figures: Printed, spec: BenchmarkSpec) -> ItemEdition:
    """Return the first edition that has pairs of every category with a figure; else the last.

    Raises:
        ValueError: no edition is known.
    """
    if not spec.editions:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    parts = {part.key: part.categories for part in spec.combined}
    asked = {key for printed in figures for key in parts.get(printed, (printed,))}
    return next(
        (edition for edition in spec.editions if all(edition.likely_sizes.get(key) != 0 for key in asked)),
        spec.editions[-1],
    )


def check_definitions(figures: Printed, spec: BenchmarkSpec) -> DefinitionCheck:
    """Return what arithmetic says about printed percentages. ``figures``: decimals, by printed name."""
    edition = edition_of(figures, spec)
    sizes = edition.likely_sizes
    fitting = fitting_overalls(figures, spec, sizes=sizes) if OVERALL in figures else None
    ranges = {
        overall: overall_range(overall, figures, sizes=sizes, combined=spec.combined) for overall in spec.overalls
    }
    overalls = tuple(
        StatedOverall(
            overall.key,
            overall.title,
            low=_percent(value_range[0]),
            high=_percent(value_range[1]),
            fits=None if fitting is None else overall.key in fitting,
        )
        for overall, value_range in ranges.items()
        if value_range is not None
    )
    whole = all(key in figures for key, size in edition.sizes.items() if size) and not edition.inferred
    adds_up = categories_add_up(figures, edition) if whole and OVERALL in figures else None
    return DefinitionCheck(
        spec,
        edition,
        figures=figures,
        overalls=overalls,
        unreachable=_unreachable(figures, spec, edition=edition, fitting=fitting),
        adds_up=adds_up,
    )


def _unreachable(
    figures: Printed, spec: BenchmarkSpec, *, edition: ItemEdition, fitting: tuple[str, ...] | None
) -> tuple[UnreachableFigure, ...]:
    """Return the impossible figures; an overall that may be a mean of categories is no count."""
    sizes = figure_sizes(edition, spec.combined)
    may_be_mean = edition.inferred or any(key != spec.pooled for key in fitting or ())
    counted = {key: printed for key, printed in figures.items() if key != OVERALL or not may_be_mean}
    return tuple(
        UnreachableFigure(key, figures[key], sizes[key], *nearest_counts(figures[key], sizes[key]))
        for key in unreachable_figures(counted, sizes)
    )


def _percent(value: Fraction) -> float:
    return round(float(value), 4)
