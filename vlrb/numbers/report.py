"""Number check for published percentages of any benchmark, for the page, the API, the command line and Python.

Imports nothing but the core, so that the command starts at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.numbers import definition_report, sentences
from vlrb.numbers.definition_check import figure_names
from vlrb.numbers.figures import BadFigures, read_figures
from vlrb.numbers.splits import check_numbers

_NO_FIGURES = ("benchmark", "lang")  # that every address may have


def refuse_unknown(given: Iterable[str], spec: BenchmarkSpec) -> None:
    """Check the names of a query string.

    Raises:
        BadFigures: one is no figure of the benchmark.
    """
    known = figure_names(spec)
    for name in given:
        if name not in known and name not in _NO_FIGURES:
            message = _(
                "“{name}” is not one of the figures. The figures are {names}.", name=name[:60], names=", ".join(known)
            )
            raise BadFigures(name[:60], message, known=known)


def url(values: Mapping[str, float | str | None] | Mapping[str, str], path: str = "/check-numbers") -> str:
    """Return the address at which figures are checked."""
    given = [(name, str(value)) for name, value in values.items() if value not in (None, "")]
    return f"{path}?{urlencode(given)}" if given else path


def answer(given: Mapping[str, Any], spec: BenchmarkSpec) -> dict[str, Any]:
    """Return what arithmetic says about figures, as JSON: verdict, headline, sentences, and what they come from.

    Raises:
        BadFigures: one is no percentage, none is given, or all are fractions.
        ValueError: nothing is known of the benchmark's sizes.
    """
    if spec.splits:
        return sentences.to_json(check_numbers(read_figures(given, spec)))
    return definition_report.to_json(definition_report.check_printed(given, spec))
