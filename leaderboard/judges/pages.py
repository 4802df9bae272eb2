"""Pages about judges on all benchmarks served: ``GET /judges``, ``/judges/{slug}``, ``/agreement``.

The same as JSON: ``leaderboard.judges.api``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from leaderboard.analyse.pages import FILES, chart_file
from leaderboard.charts.layout import Page
from leaderboard.entry.pages import entry_summary
from leaderboard.judges import api
from leaderboard.judges.agreement import agreement_verdict, agreements
from leaderboard.judges.agreement_figure import LEAD, agreement_chart, figure_url
from leaderboard.judges.parameters import PAGE, JudgesQuery, matching
from leaderboard.judges.selection import AllBoards, Relations
from leaderboard.judges.table import JudgeResult, named_parts, part_of, variant_of
from leaderboard.ranking.parameters import compare_url
from leaderboard.ranking.reported_results import left_out
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.pages import not_found_page, status_page
from leaderboard.site.render import message_page, render
from leaderboard.site.responses import respond
from vlrb.common.messages import _
from vlrb.judges import judge_slug
from vlrb.statistics.rank_agreement import LEAST


def build(boards: Sequence[BoardCache], relations: Sequence[Relations] = ()) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first; ``relations``: of each."""
    router = APIRouter()

    async def current() -> AllBoards:
        return AllBoards([await board.current() for board in boards], relations)

    _add_comparisons(router, current)
    router.include_router(api.build(current))

    @router.api_route("/judges", methods=["GET", "HEAD"], include_in_schema=False)
    async def table(request: Request) -> Response:
        found = await current()
        asked = found.read(request.query_params)
        response = await found.ready(asked.url(), lambda: status_page(_table_page(found, asked)))
        return respond(response, request.headers)

    @router.api_route("/judges/{slug}", methods=["GET", "HEAD"], include_in_schema=False)
    async def judge(slug: str, request: Request) -> Response:
        found = await current()
        page = await found.versions[0].executor.take(partial(_judge_page, found), slug)
        if page is None:
            return not_found_page(boards[0].context, request.headers)
        return respond(status_page(page), request.headers, drawing=True)

    return router


def _add_comparisons(router: APIRouter, current: Callable[[], Awaitable[AllBoards]]) -> None:
    """Add what is about several judges or benchmarks, ahead of the page of one judge."""

    @router.get("/api/v1/judges/compare", include_in_schema=False)
    @router.api_route("/judges/compare", methods=["GET", "HEAD"], include_in_schema=False)
    async def comparison(request: Request) -> Response:
        found = await current()
        version, ids = await found.versions[0].executor.take(partial(_entries_of, found), request.query_params)
        if request.url.path.startswith("/api/"):
            return RedirectResponse(f"/api/v1/compare?benchmark={version.spec.id}&entries={','.join(ids)}")
        return RedirectResponse(version.context.prefix + compare_url(ids))

    @router.api_route("/agreement", methods=["GET", "HEAD"], include_in_schema=False)
    async def agreement(request: Request) -> Response:
        found = await current()
        asked = found.read(request.query_params).of_agreement
        response = await found.ready(asked.url("/agreement"), lambda: status_page(_agreement_page(found, asked)))
        return respond(response, request.headers, drawing=True)

    @router.api_route("/agreement.{kind}", methods=["GET", "HEAD"], include_in_schema=False)
    async def figure(kind: str, request: Request) -> Response:
        found = await current()
        if kind not in FILES:
            return not_found_page(found.versions[0].context, request.headers)
        asked, narrow = found.read(request.query_params).of_agreement, request.query_params.get("narrow") == "1"
        response = await found.ready(
            figure_url(asked, kind, narrow=narrow),
            lambda: _agreement_file(found, asked, kind, narrow=narrow),
        )
        return respond(response, request.headers)


def _entries_of(found: AllBoards, asked: QueryParams) -> tuple[BoardVersion, list[str]]:
    """Return the benchmark asked for, or else the one that has most of the judges, and their leading results on it."""
    slugs = [asked.get("a", ""), asked.get("b", ""), *asked.getlist("judge")]
    lines = [line for line in found.lines if line.slug in slugs]
    results = [
        (version, [row.id for line in lines if (cell := line.cells[at]) and (row := cell.leading_row)])
        for at, version in enumerate(found.versions)
    ]
    named = [result for result in results if result[0].spec.id == asked.get("benchmark")]
    return max(named or results, key=lambda result: len(result[1]))


def _agreement_file(found: AllBoards, asked: JudgesQuery, kind: str, *, narrow: bool) -> CachedResponse:
    """Return the figure of a view as a file of one of FILES."""
    version = found.versions[0]
    page = Page(version.spec, narrow, language=version.context.language)
    return chart_file(agreement_chart(agreements(matching(found.lines, asked), found.boards), page), version.spec, kind)


def _agreement_page(found: AllBoards, asked: JudgesQuery) -> str:
    results = agreements(matching(found.lines, asked), found.boards)
    return render(
        found.versions[0].context,
        "agreement.html",
        current="/judges",
        comparisons=results,
        verdict=agreement_verdict(results),
        asked=asked,
        least=LEAST,
        lead=LEAD,
        parts=named_parts(found.boards),
        drawn=partial(figure_url, asked) if any(result.judges for result in results) else None,
    )


def _table_page(found: AllBoards, asked: JudgesQuery) -> str:
    composites, boards = found.composites, found.boards
    lines = found.select(asked, composites)
    pages = max(1, -(-len(lines) // PAGE))
    page = min(asked.page, pages)
    return render(
        found.versions[0].context,
        "judges.html",
        current="/judges",
        asked=asked,
        boards=boards,
        lines=lines[(page - 1) * PAGE : page * PAGE],
        total=len(lines),
        page=page,
        pages=pages,
        composites=composites,
        composite_parts=named_parts(boards) if composites else "",
        prefixes=found.prefixes,
        part_of=part_of,
        variant_of=variant_of,
    )


def _judge_page(found: AllBoards, slug: str) -> str | None:
    line = found.find(slug)
    if line is None:
        return _left_out_page(found.versions[0], slug)
    here = list(zip(found.versions, line.cells, strict=True))
    results = [_scored_result(version, cell) for version, cell in here]
    return render(
        found.versions[0].context,
        "judge.html",
        current="/judges",
        line=line,
        prefixes=found.prefixes,
        missing=[version.spec.title for version, cell in here if cell is None],
        reported=any(cell.reports for cell in line.cells if cell is not None),
        composite=found.composites.get(slug),
        arithmetic=found.findings,
        part_of=part_of,
        variant_of=variant_of,
        results=[result for result in results if result is not None],
    )


def _scored_result(version: BoardVersion, cell: JudgeResult | None) -> dict[str, Any] | None:
    """Return what the page of a judge says of its best entry on one benchmark, and its other versions there."""
    entry = version.entry(cell.scored.id) if cell is not None and cell.scored is not None else None
    if cell is None or entry is None:
        return None
    summary = entry_summary(version, cell.board, entry)
    return {**summary, "cell": cell, "start": version.context.prefix, "compare_url": compare_url}


def _left_out_page(board_version: BoardVersion, slug: str) -> str | None:
    """Return the page of a method that claims something about the benchmark without a figure."""
    method = next((one for one in left_out(board_version.spec) if judge_slug(one.name) == slug), None)
    if method is None:
        return None
    links = ((method.source, method.url), (_("Published figures, checked"), f"{board_version.context.prefix}/reported"))
    return message_page(board_version.context, method.name, lead=_(method.why), links=links)
