"""Page ``GET /check-numbers``: the form, and what arithmetic says of published figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from leaderboard.board.reported_results import find, load_published
from leaderboard.pages import reported
from leaderboard.render import render
from leaderboard.render_context import RenderContext
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.numbers import report as number_check
from vlrb.numbers.definition_check import by_printed_name, printed_names
from vlrb.numbers.definition_report import printed_title
from vlrb.numbers.figures import BadFigures


@cache
def _examples(spec: BenchmarkSpec) -> tuple[tuple[str, str, str], ...]:
    """(name, what it shows, address)."""
    rows = [(find(load_published(spec), name), remark) for name, remark in spec.number_check_examples.items()]
    return tuple((row.name, remark, number_check.url(row.figures)) for row, remark in rows if row)


def check_page(context: RenderContext, given: Mapping[str, str]) -> tuple[str, BadFigures | None]:
    """Return the form, the answer if something was asked, and what is wrong with it."""
    spec = context.spec
    asked = {name: text for name, text in by_printed_name(given, spec).items() if text}
    result, problem = None, None
    try:
        number_check.refuse_unknown(given, spec)
        result = number_check.answer(asked, spec) if asked else None
    except BadFigures as wrong:
        problem = wrong
    page = render(
        context,
        "check.html",
        current="/check-numbers",
        spec=spec,
        asked=asked,
        fields=[(name, printed_title(name, spec), asked.get(name, "")) for name in printed_names(spec)],
        problem=problem,
        result=result,
        api=number_check.url(asked, "/api/v1/check-numbers"),
        examples=_examples(spec),
        counts=reported.summary(load_published(spec)),
    )
    return page, problem
