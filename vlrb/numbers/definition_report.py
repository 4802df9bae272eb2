"""Number check for benchmarks with several definitions of overall, for the page, the API and the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.numbers import report
from vlrb.numbers.definition_check import (
    FITS,
    IMPOSSIBLE,
    NO_DEFINITION,
    OTHER_COUNTS,
    DefinitionCheck,
    UnreachableFigure,
    by_printed_name,
    check_definitions,
)
from vlrb.numbers.figures import read_by_name
from vlrb.numbers.published_overalls import GROUPED, OVERALL
from vlrb.numbers.reported_definitions import definition_name, needed_definitions, printed_title

TABLES = "published_tables.json"
"""Tables of papers in the folder of a definition: source, url, columns, rows of a name and figures as printed."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row of a published table, what arithmetic says of it, and the address of its check."""

    name: str
    overall: str
    check: DefinitionCheck
    url: str


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A published table, row by row."""

    source: str
    url: str
    rows: tuple[CheckedRow, ...]

    @property
    def definitions(self) -> tuple[str, ...]:
        """The fewest definitions of overall that explain the rows of the table; what alone fits a row comes first."""
        return needed_definitions(row.check for row in self.rows)


def answer(given: Mapping[str, str], spec: BenchmarkSpec) -> DefinitionCheck:
    """Return what arithmetic says about figures of a query string or a command line.

    Raises:
        BadFigures: one is no percentage, none is given, or all are fractions.
    """
    return check_definitions(_printed(by_printed_name(given, spec)), spec)


def _printed(given: Mapping[str, str]) -> dict[str, str]:
    return {name: str(value) for name, value in read_by_name(given).items() if value is not None}


def headline(definition_check: DefinitionCheck) -> str:
    """Return the verdict in one sentence."""
    if definition_check.verdict == IMPOSSIBLE:
        names = joined(
            [printed_title(figure.key, definition_check.spec) for figure in definition_check.unreachable], _(" and ")
        )
        return _("No count of pairs gives the printed {names}.", names=names)
    if definition_check.verdict == NO_DEFINITION:
        return _("The overall fits none of the definitions in circulation.")
    if definition_check.verdict == OTHER_COUNTS:
        return _("The categories do not add up to the overall.")
    if definition_check.verdict == FITS:
        return _(
            "The overall is {titles}.",
            titles=quoted(definition_check.definitions, definition_check.spec, between=_(" or ")),
        )
    return _("Every figure is possible. With all categories and the overall we can find the definition.")


def quoted(keys: Iterable[str], spec: BenchmarkSpec, *, between: str) -> str:
    """Return definitions of overall by their names, in quotation marks."""
    return joined([_("“{title}”", title=definition_name(key, spec)) for key in keys], between)


def sentences(definition_check: DefinitionCheck) -> list[str]:
    """Return what was found, for people."""
    lines = [impossible(figure, definition_check.spec) for figure in definition_check.unreachable]
    for overall in definition_check.overalls:
        span = (
            f"{overall.low:.2f}"
            if overall.low == overall.high
            else _("{low:.2f} to {high:.2f}", low=overall.low, high=overall.high)
        )
        fits = {True: _(": this fits"), False: _(": this does not fit"), None: ""}[overall.fits]
        lines.append(_("{title}: the categories give {span}{fits}.", title=_(overall.title), span=span, fits=fits))
    if definition_check.adds_up is not None and definition_check.verdict != OTHER_COUNTS:
        there_are = _("There are counts behind the categories that add up to the overall.")
        there_are_none = _("There are no counts behind the categories that add up to the overall.")
        lines.append(there_are if definition_check.adds_up else there_are_none)
    if definition_check.edition.inferred and definition_check.overalls:
        inferred = definition_check.edition.inferred.items()
        named = [
            _("{title} {size:,}", title=_(definition_check.spec.title_of(key)), size=size) for key, size in inferred
        ]
        sizes = joined(named, _(" and "))
        lines.append(_("The sizes {sizes} are inferred: the paper does not state them.", sizes=sizes))
    return lines


def impossible(figure: UnreachableFigure, spec: BenchmarkSpec) -> str:
    """Return that no count gives a percentage, with those next to it."""
    what = _("groups") if figure.key == GROUPED else _("pairs")
    (less, low), (more, high) = figure.below, figure.above
    return _(
        "{spec} {printed} is not a count of {n} {what}: {less} of {n} is {low}, {more} of {n} is {high}. Perhaps pairs "
        "were left out.",
        spec=printed_title(figure.key, spec),
        printed=figure.printed,
        n=figure.n,
        what=what,
        less=less,
        low=low,
        more=more,
        high=high,
    )


def to_json(definition_check: DefinitionCheck) -> dict[str, Any]:
    """Return the whole answer for programs; figures stay as they were printed, percentages are percent."""
    return {
        "verdict": definition_check.verdict,
        "headline": headline(definition_check),
        "sentences": sentences(definition_check),
        "edition": definition_check.edition.key,
        "figures": dict(definition_check.figures),
        "definitions": [
            {"key": overall.key, "title": overall.title, "low": overall.low, "high": overall.high, "fits": overall.fits}
            for overall in definition_check.overalls
        ],
        "unreachable": [
            {
                "name": figure.key,
                "printed": figure.printed,
                "n": figure.n,
                "below": list(figure.below),
                "above": list(figure.above),
            }
            for figure in definition_check.unreachable
        ],
        "adds_up": definition_check.adds_up,
    }


def to_answer(given: Mapping[str, str], spec: BenchmarkSpec) -> dict[str, Any]:
    """Return what arithmetic says about figures of any benchmark, with its `headline` and `sentences`, as JSON.

    Raises:
        BadFigures: one is no percentage, none is given, or all are fractions.
        ValueError: nothing is known of the benchmark's sizes.
    """
    if spec.splits:
        return report.to_json(report.answer(report.read(given, spec)))
    return to_json(answer(given, spec))


@cache
def published_tables(spec: BenchmarkSpec) -> tuple[CheckedTable, ...]:
    """Return the tables of papers that the folder of a definition has, each row checked."""
    content = spec.read(TABLES)
    tables = json.loads(content) if content is not None else ()
    return tuple(
        CheckedTable(
            table["source"], table["url"], rows=tuple(_row(row, table["columns"], spec=spec) for row in table["rows"])
        )
        for table in tables
    )


def _row(row: Sequence[str], columns: Sequence[str], *, spec: BenchmarkSpec) -> CheckedRow:
    name, *figures = row
    given = dict(zip(columns, figures, strict=True))
    return CheckedRow(
        name, given.get(OVERALL, ""), check=check_definitions(_printed(given), spec), url=report.url(given)
    )
