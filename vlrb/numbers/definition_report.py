"""Answer to published figures of a benchmark with several definitions of overall: its sentences, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.numbers.definition_check import (
    FITS,
    GROUPED,
    IMPOSSIBLE,
    NO_DEFINITION,
    OTHER_COUNTS,
    OVERALL,
    DefinitionCheck,
    UnreachableFigure,
    by_printed_name,
    check_definitions,
)
from vlrb.numbers.figures import read_by_name


def check_printed(given: Mapping[str, Any], spec: BenchmarkSpec) -> DefinitionCheck:
    """Return what arithmetic says about figures by the names that can be checked.

    Raises:
        BadFigures: one is no percentage, none is given, or all are fractions.
    """
    read = read_by_name(by_printed_name(given, spec))
    return check_definitions({name: figure for name, figure in read.items() if figure is not None}, spec)


def printed_title(name: str, spec: BenchmarkSpec) -> str:
    """Return how people call a printed figure."""
    if name == GROUPED and spec.grouped is not None:
        return _(spec.grouped.title.partition(":")[0])
    return _("Overall") if name == OVERALL else _(spec.title_of(name))


def definition_name(key: str, spec: BenchmarkSpec) -> str:
    """Return how people call a definition of overall among others."""
    name = _(spec.title_of(key))
    return _("all pairs alike") if key == spec.pooled and name == _("Overall") else name


def needed_definitions(checks: Iterable[DefinitionCheck]) -> tuple[str, ...]:
    """Return the fewest definitions of overall that explain rows of one table; what alone fits a row comes first."""
    needed: list[str] = []
    for fitting in sorted((check.definitions for check in checks if check.fitting), key=len):
        if not set(fitting) & set(needed):
            needed.append(fitting[0])
    return tuple(needed)


def headline(check: DefinitionCheck) -> str:
    """Return the verdict in one sentence."""
    if check.verdict == IMPOSSIBLE:
        names = joined([printed_title(figure.name, check.spec) for figure in check.unreachable], _(" and "))
        return _("No count of pairs gives the printed {names}.", names=names)
    if check.verdict == NO_DEFINITION:
        return _("The overall fits none of the definitions in circulation.")
    if check.verdict == OTHER_COUNTS:
        return _("The categories do not add up to the overall.")
    if check.verdict == FITS:
        return _("The overall is {titles}.", titles=quoted(check.definitions, check.spec, between=_(" or ")))
    return _("Every figure is possible. With all categories and the overall we can find the definition.")


def quoted(keys: Iterable[str], spec: BenchmarkSpec, *, between: str) -> str:
    """Return definitions of overall by their names, in quotation marks."""
    return joined([_("“{title}”", title=definition_name(key, spec)) for key in keys], between)


def sentences(check: DefinitionCheck) -> list[str]:
    """Return what was found, for people."""
    lines = [impossible(figure, check.spec) for figure in check.unreachable]
    for overall in check.overalls:
        low, high = overall.low, overall.high
        span = f"{low:.2f}" if low == high else _("{low:.2f} to {high:.2f}", low=low, high=high)
        fits = {True: _(": this fits"), False: _(": this does not fit"), None: ""}[overall.fits]
        lines.append(_("{title}: the categories give {span}{fits}.", title=_(overall.title), span=span, fits=fits))
    if check.adds_up is not None and check.verdict != OTHER_COUNTS:
        there_are = _("There are counts behind the categories that add up to the overall.")
        there_are_none = _("There are no counts behind the categories that add up to the overall.")
        lines.append(there_are if check.adds_up else there_are_none)
    if check.edition.inferred and check.overalls:
        sizes = inferred_sizes(check)
        lines.append(_("The sizes {sizes} are inferred: the paper does not state them.", sizes=sizes))
    return lines


def inferred_sizes(check: DefinitionCheck) -> str:
    """Return the numbers of pairs that nobody has stated, by the titles of their categories."""
    inferred = check.edition.inferred.items()
    named = [_("{title} {size:,}", title=_(check.spec.title_of(key)), size=size) for key, size in inferred]
    return joined(named, _(" and "))


def impossible(figure: UnreachableFigure, spec: BenchmarkSpec) -> str:
    """Return that no count gives a percentage, with those next to it."""
    what = _("groups") if figure.name == GROUPED else _("pairs")
    (less, low), (more, high) = figure.below, figure.above
    return _(
        "{spec} {printed} is not a count of {n} {what}: {less} of {n} is {low}, {more} of {n} is {high}. Perhaps pairs "
        "were left out.",
        spec=printed_title(figure.name, spec),
        printed=figure.printed,
        n=figure.n,
        what=what,
        less=less,
        low=low,
        more=more,
        high=high,
    )


def to_json(check: DefinitionCheck) -> dict[str, Any]:
    """Return the whole answer for programs; figures stay as they were printed, percentages are percent."""
    return {
        "verdict": check.verdict,
        "headline": headline(check),
        "sentences": sentences(check),
        "edition": check.edition.key,
        "figures": {name: str(figure) for name, figure in check.figures.items()},
        "definitions": [asdict(overall) for overall in check.overalls],
        "unreachable": [asdict(figure) for figure in check.unreachable],
        "adds_up": check.adds_up,
    }
