"""Verdicts on reported figures: what the number check says of a result, in the few facts that a table shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message, _, joined
from vlrb.numbers import definition_report, sentences
from vlrb.numbers.definition_check import (
    FITS,
    GROUPED,
    IMPOSSIBLE,
    NO_DEFINITION,
    OTHER_COUNTS,
    OVERALL,
    DefinitionCheck,
)
from vlrb.numbers.definition_report import definition_name, printed_title
from vlrb.numbers.figures import BadFigures, Figures, read_figures
from vlrb.numbers.splits import check_numbers

ADDS_UP, OTHER_CATEGORIES, CONTRADICTS, UNCHECKED = "adds-up", "other-categories", "contradicts", "not-checkable"
EXCHANGED, UNMATCHED = "columns-exchanged", "no-categories"
FiguresByName = Mapping[str, float | None]
"""Percentages of a result by score; None where its source has none."""


@dataclass(frozen=True, slots=True)
class ReportedCheck:
    """What is said of figures. ``remark``: what is wrong with them in a few words; "" where nothing is known to be.

    ``sizes``: of how many pairs each figure is, by score, where arithmetic tells. ``grouping``: which they follow, the
    official one where that fits. ``states_mean``: whether the mean that they state is that of their categories.
    ``definition``: of a benchmark with several definitions of overall.
    """

    verdict: str
    remark: str = ""
    headline: str = ""
    sentences: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    states_mean: bool = False
    grouping: str | None = None
    definition: DefinitionCheck | None = None


def check_reported(figures: FiguresByName, spec: BenchmarkSpec) -> ReportedCheck:
    """Return the verdict on the figures of a result, also of combined categories."""
    known = {name: figures.get(name) for name in (*spec.score_names, *spec.combined_keys)}
    return _checked(tuple(known.items()), spec)


@lru_cache(4096)
def _checked(values: tuple[tuple[str, float | None], ...], spec: BenchmarkSpec) -> ReportedCheck:
    figures = dict(values)
    if all(value is None for value in figures.values()) or not (spec.splits or spec.editions):
        return ReportedCheck(UNCHECKED)
    try:
        return _of_splits(read_figures(figures, spec)) if spec.splits else _of_definitions(figures, spec)
    except BadFigures:
        return ReportedCheck(UNCHECKED)


def _of_splits(figures: Figures) -> ReportedCheck:
    spec, found = figures.spec, check_numbers(figures)
    headline, said = sentences.headline(found), tuple(sentences.sentences(found))
    if None in figures.categories or (figures.pooled, figures.mean) == (None, None):
        return ReportedCheck(UNCHECKED, "", headline, said)
    states_mean = found.states_mean
    plain = [fit.split for fit in found.fits if not fit.exchanged]
    if found.impossible:
        wrong_mean = figures.mean is not None and not states_mean
        average = _("{mean} average does not match", mean=_(str(spec.mean)))
        remark = average if wrong_mean else _("categories do not add up")
        return ReportedCheck(CONTRADICTS, remark, headline, said, states_mean=states_mean)
    if not plain:
        exchanged = _("fits with {columns} exchanged", columns=joined(spec.exchanged, _(" and ")))
        verdict, remark = (EXCHANGED, exchanged) if found.fits else (UNMATCHED, _("fits no known categories"))
        return ReportedCheck(verdict, remark, headline, said, states_mean=states_mean)
    first = next((split for split in plain if split.grouping == spec.official), plain[0])
    other = first.grouping != spec.official
    told = figures.pooled is not None  # without it, the categories alone fit every split
    sizes = dict(zip((*spec.category_keys, spec.pooled), (*first.sizes, sum(first.sizes)), strict=True))
    return ReportedCheck(
        OTHER_CATEGORIES if other else ADDS_UP,
        _("fits {grouping}", grouping=first.label) if other else "",
        headline,
        said,
        sizes=sizes if told else {},
        states_mean=states_mean,
        grouping=first.grouping if told else None,
    )


def _of_definitions(figures: FiguresByName, spec: BenchmarkSpec) -> ReportedCheck:
    check = definition_report.check_printed(printed_figures(figures, spec), spec)
    remark = _remark(check, stated_overall(figures, spec))
    return ReportedCheck(
        CONTRADICTS if remark else ADDS_UP if check.verdict == FITS else UNCHECKED,
        remark,
        definition_report.headline(check),
        tuple(definition_report.sentences(check)),
        sizes=_denominators(check),
        states_mean=spec.mean in check.fitting,
        grouping=spec.official,
        definition=check,
    )


def stated_overall(figures: FiguresByName, spec: BenchmarkSpec) -> str:
    """Return the overall over pairs or categories that a result states; "" without one."""
    overalls = (key for key in spec.headline_first if spec.overall(key) is not None and not spec.counts_groups(key))
    return next((key for key in overalls if figures.get(key) is not None), "")


def printed_figures(figures: FiguresByName, spec: BenchmarkSpec) -> dict[str, str]:
    """Return the figures of a result by the names that the check takes, with the decimals that its source prints.

    A table has one number of decimals: a row's longest figure shows it.
    """
    named = {key: figures.get(key) for key in (*spec.category_keys, *spec.combined_keys)}
    named[OVERALL] = figures.get(stated_overall(figures, spec))
    if spec.grouped is not None:
        named[GROUPED] = figures.get(spec.grouped.key)
    known = {name: Decimal(str(value)) for name, value in named.items() if value is not None}
    decimals = max(map(_decimals, known.values()), default=0)
    return {name: f"{value:.{decimals}f}" for name, value in known.items()}


def _remark(check: DefinitionCheck, stated: str) -> str:
    """Return what is wrong with figures. ``stated``: the overall that the source is held to state."""
    spec = check.spec
    if check.verdict == IMPOSSIBLE:
        impossible = [
            joined((Message(_short(stated if figure.name == OVERALL else figure.name, spec), {}), figure.printed), " ")
            for figure in check.unreachable
        ]
        return _("no count gives {figures}", figures=joined(impossible))
    if check.verdict == NO_DEFINITION:
        return _("fits no definition of overall")
    if check.verdict == OTHER_COUNTS:
        return _("categories do not add up")
    if check.fitting and stated not in check.fitting:
        fitting = joined([definition_name(key, spec) for key in check.definitions], _(" or "))
        return _("fits {fitting}, not {stated}", fitting=fitting, stated=definition_name(stated, spec))
    return ""


def _denominators(check: DefinitionCheck) -> dict[str, int]:
    """Return of how many pairs each figure is; nothing where the figures do not follow known sizes.

    Pairs of one question are right or wrong together: a percentage of those has no interval without the pairs.
    """
    spec = check.spec
    if check.verdict != FITS or spec.grouped is not None:
        return {}
    sizes = check.edition.likely_sizes
    counts = {key: size for key, size in sizes.items() if size and key in check.figures}
    pooled = {
        key: sum(sizes.get(part, 0) for part in spec.parts_of(key)) for key in check.fitting if not spec.is_mean(key)
    }
    return counts | pooled


def _short(name: str, spec: BenchmarkSpec) -> str:
    short = next((category.short for category in spec.categories if category.key == name), "")
    return short or printed_title(name, spec)


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
