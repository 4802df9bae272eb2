"""All published figures of a benchmark, with what arithmetic says of each; and the number check, a form for others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from leaderboard.ranking.parameters import address, one_of
from leaderboard.ranking.reported_results import ReportedFigures, find, left_out, load_published
from leaderboard.reported.findings import report_findings
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.pages import add_page, not_found_page, status_page
from leaderboard.site.render import render
from leaderboard.site.render_context import RenderContext
from leaderboard.site.responses import respond
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.judges import judge_slug
from vlrb.numbers import report as number_check
from vlrb.numbers.definition_check import by_printed_name, printed_names
from vlrb.numbers.definition_report import printed_title
from vlrb.numbers.figures import BadFigures
from vlrb.numbers.reported import ADDS_UP, CONTRADICTS, EXCHANGED, OTHER_CATEGORIES, UNCHECKED, UNMATCHED

PATH = "/reported"
VERDICTS: Mapping[str, str] = {
    CONTRADICTS: _("does not add up"),
    UNMATCHED: _("no known categories"),
    EXCHANGED: _("columns exchanged"),
    OTHER_CATEGORIES: _("other categories"),
    ADDS_UP: _("adds up"),
    UNCHECKED: _("not checkable"),
}
"""What arithmetic says of a published result, in a word; the page sorts by it in this order."""
SORTS = ("verdict", "score", "judge", "date")


def build(boards: BoardCache) -> APIRouter:
    """Return the routes of both pages."""
    router, spec = APIRouter(include_in_schema=False), boards.spec

    def view(version: BoardVersion, parameters: Mapping[str, str]) -> tuple[str, Callable[[], str]]:
        asked = read_view(parameters)
        return asked.url(), partial(reported_page, version, asked)

    add_page(router, boards, PATH, view)

    @router.api_route("/check-numbers", methods=["GET", "HEAD"])
    async def check_numbers(request: Request) -> Response:
        if not (spec.splits or spec.editions):
            return not_found_page(boards.context, request.headers)
        page, wrong = await asyncio.to_thread(check_page, boards.context, request.query_params)
        return respond(status_page(page), request.headers, status=400 if wrong else 200)

    return router


@dataclass(frozen=True, slots=True)
class ReportedView:
    """What a visitor asked for: one of VERDICTS ("" all), and one of SORTS."""

    verdict: str = ""
    sort: str = SORTS[0]

    def url(self, verdict: str | None = None, sort: str = "") -> str:
        """Return the address of the page with another choice."""
        order = sort or self.sort
        named = {"verdict": self.verdict if verdict is None else verdict, "sort": "" if order == SORTS[0] else order}
        return address(PATH, named)


def read_view(parameters: Mapping[str, str]) -> ReportedView:
    """Return the view of a query string. A value that means nothing is as good as none: a link never breaks."""
    return ReportedView(one_of(parameters, "verdict", VERDICTS), sort=one_of(parameters, "sort", SORTS) or SORTS[0])


def summary(published: Sequence[ReportedFigures]) -> Mapping[str, int]:
    """Return how many published results each of VERDICTS holds for."""
    counts = Counter(result.check.verdict for result in published)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def reported_page(board_version: BoardVersion, view: ReportedView) -> str:
    """Return the page."""
    published, spec = board_version.published, board_version.spec
    rows = [row for row in published if view.verdict in ("", row.check.verdict)]
    return render(
        board_version.context,
        "reported_all.html",
        current="",
        view=view,
        verdicts=VERDICTS,
        counts=summary(published),
        total=len(published),
        rows=sorted(rows, key=lambda row: _order(row, view.sort)),
        findings=report_findings(published),
        left_out=left_out(spec),
        judge_slug=judge_slug,
        overall=lambda row: row.printed.get(_overall(row), ""),
    )


def _overall(row: ReportedFigures) -> str:
    """Return which overall to show of a result: the one that it states, where its benchmark has several."""
    return row.stated_overall if row.check.definition is not None else row.spec.pooled


def _order(row: ReportedFigures, sort: str) -> tuple[object, ...]:
    name = (row.name.casefold(), row.id)
    if sort == "judge":
        return name
    if sort == "date":
        return (tuple(-ord(letter) for letter in row.date or "0"), *name)
    stated = row.figures.get(_overall(row))
    highest = -stated if stated is not None else 1.0
    return (highest, *name) if sort == "score" else (list(VERDICTS).index(row.check.verdict), highest, *name)


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
        asked=asked,
        fields=[(name, printed_title(name, spec), asked.get(name, "")) for name in printed_names(spec)],
        problem=problem,
        result=result,
        api=number_check.url(asked, "/api/v1/check-numbers"),
        examples=_examples(spec),
        counts=summary(load_published(spec)),
    )
    return page, problem
