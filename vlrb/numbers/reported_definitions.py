"""Reported figures of a benchmark with several definitions of overall, as its check of numbers takes them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message, _, joined
from vlrb.numbers.definition_check import (
    FITS,
    IMPOSSIBLE,
    NO_DEFINITION,
    OTHER_COUNTS,
    DefinitionCheck,
    check_definitions,
)
from vlrb.numbers.published_overalls import GROUPED, OVERALL

FiguresByName = Mapping[str, float | None]
"""Percentages of a result by score; None where its source has none."""


def printed_title(name: str, spec: BenchmarkSpec) -> str:
    """Return how people call a printed figure."""
    if name == GROUPED and spec.grouped is not None:
        return _(spec.grouped.title.partition(":")[0])
    return _("Overall") if name == OVERALL else _(spec.title_of(name))


def definition_name(key: str, spec: BenchmarkSpec) -> str:
    """Return how people call a definition of overall among others."""
    name = _(spec.title_of(key))
    return _("all pairs alike") if key == spec.pooled and name == _("Overall") else name


def stated_overall(figures: FiguresByName, spec: BenchmarkSpec) -> str:
    """Return the overall over pairs or categories that a result states; "" without one."""
    return next(
        (key for key in spec.headline_first if _is_overall(key, spec) and figures.get(key) is not None),
        "",
    )


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


def check_reported(figures: FiguresByName, spec: BenchmarkSpec) -> DefinitionCheck | None:
    """Return what arithmetic says of a result; None where nothing can be checked."""
    if spec.splits or not spec.editions:
        return None
    printed = printed_figures(figures, spec)
    return check_definitions(printed, spec) if printed else None


def remark(check: DefinitionCheck, stated: str) -> str:
    """Return what is wrong with figures, in a few words; "" where nothing is known to be.

    ``stated``: the overall that the source is held to state.
    """
    spec = check.spec
    if check.verdict == IMPOSSIBLE:
        impossible = [
            joined((Message(_short(stated if figure.key == OVERALL else figure.key, spec), {}), figure.printed), " ")
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


def needed_definitions(checks: Iterable[DefinitionCheck]) -> tuple[str, ...]:
    """Return the fewest definitions of overall that explain rows of one table; what alone fits a row comes first."""
    needed: list[str] = []
    for fitting in sorted((check.definitions for check in checks if check.fitting), key=len):
        if not set(fitting) & set(needed):
            needed.append(fitting[0])
    return tuple(needed)


def denominators(check: DefinitionCheck) -> dict[str, int]:
    """Return of how many pairs each figure is, by score; nothing where the figures do not follow known sizes.

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


def _is_overall(key: str, spec: BenchmarkSpec) -> bool:
    return spec.overall(key) is not None and not spec.counts_groups(key)


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
