"""Sentences on what arithmetic says of a reported result, for its page and for that of its judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.ranking.reported_results import ReportedFigures, mixed_definitions
from vlrb.common.messages import _
from vlrb.numbers import definition_report
from vlrb.numbers import report as number_check
from vlrb.numbers.definition_check import IMPOSSIBLE, DefinitionCheck


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What arithmetic says of a result. ``mixed``: definitions of overall that its table has in one column.

    ``check_url``: the filled form of the number check, below the prefix of the benchmark.
    """

    sentences: tuple[str, ...]
    mixed: tuple[str, ...]
    check_url: str


def report_findings(published: Sequence[ReportedFigures]) -> Mapping[str, ReportedFinding]:
    """Return the findings on results by their ids."""
    return {result.id: _finding(result, published) for result in published}


def check_url(result: ReportedFigures) -> str:
    """Return the address of the number check with the figures filled in; "" where the benchmark has none."""
    return number_check.url(result.asked_figures) if result.check.headline else ""


def explanation(result: ReportedFigures, published: Sequence[ReportedFigures]) -> tuple[str, tuple[str, ...]]:
    """Return the verdict on a result's figures and the sentences behind it, for its page."""
    return result.check.headline, tuple(filter(None, (mixture(result, published), *result.check.sentences)))


def mixture(result: ReportedFigures, published: Sequence[ReportedFigures]) -> str:
    """Return that the overall column of a result's table has several definitions; "" where it has one."""
    mixed = mixed_definitions(result, published)
    if not mixed:
        return ""
    table = ", ".join(filter(None, (result.source, result.place)))
    return _(
        "The overall column of {table} mixes {definitions}: its rows cannot be compared.",
        table=table,
        definitions=definition_report.quoted(mixed, result.spec, between=_(" and ")),
    )


def interval_note(result: ReportedFigures, *, shown: bool) -> str:
    """Return where the intervals of a result come from, or why it has none."""
    if not shown:
        return _no_interval(result)
    check = result.check.definition
    if check is not None and check.edition.inferred:
        return _(
            "Intervals are unpaired, from the official sizes. {sizes} are inferred. They are too narrow if pairs were "
            "left out.",
            sizes=definition_report.inferred_sizes(check),
        )
    return _(
        "Intervals are unpaired, from the sizes that the figures follow. They are too narrow if pairs were left out."
    )


def _no_interval(result: ReportedFigures) -> str:
    if result.spec.grouped is not None:
        return _(
            "No intervals: pairs of one question are right or wrong together, and percentages do not show which were."
        )
    return _("No intervals: the number of pairs behind the figures is not known.")


def _finding(result: ReportedFigures, published: Sequence[ReportedFigures]) -> ReportedFinding:
    check = result.check.definition
    findings = _of_split(result) if check is None else (*_of_definition(check), mixture(result, published))
    return ReportedFinding(
        tuple(filter(None, findings)), mixed_definitions(result, published), check_url=check_url(result)
    )


def _of_definition(check: DefinitionCheck) -> tuple[str, ...]:
    if check.verdict == IMPOSSIBLE:
        return tuple(definition_report.impossible(figure, check.spec) for figure in check.unreachable)
    return (definition_report.headline(check),)


def _of_split(result: ReportedFigures) -> tuple[str, ...]:
    if result.check.remark:
        return (result.check.remark,)
    return (_("The overall fits the official category sizes."),) if result.check.grouping else ()
