"""Pages about judges on all benchmarks served: ``GET /judges``, ``/judges/{slug}``, ``/agreement``.

The same as JSON: ``leaderboard.judges.api``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from leaderboard.board.query import compare_url
from leaderboard.board.reported_results import left_out
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.charts.layout import Page
from leaderboard.judges import api
from leaderboard.judges.agreement import BenchmarkAgreement, agreement_verdict, agreements
from leaderboard.judges.agreement_figure import LEAD, AgreementQuery, agreement_chart
from leaderboard.judges.composite import composite_of
from leaderboard.judges.query import PAGE, JudgesQuery, matching
from leaderboard.judges.selection import (
    Relations,
    SelectedLines,
    findings_of,
    lines_of,
    of_agreement,
    read_query,
    selected,
    tested,
    version_key,
)
from leaderboard.judges.table import JudgeResult, named_parts, part_of, variant_of
from leaderboard.pages.analyse import FILES, chart_json
from leaderboard.pages.entry import entry_summary
from leaderboard.pages.status_pages import not_found_page, status_page
from leaderboard.render import message_page, render
from leaderboard.responses import respond
from vlrb.common.messages import _
from vlrb.judges import judge_slug
from vlrb.statistics.rank_agreement import LEAST


def build(boards: Sequence[BoardCache], relations: Sequence[Relations] = ()) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first; ``relations``: of each."""
    router = APIRouter()
    _add_comparisons(router, boards)
    router.include_router(api.build(boards, relations))

    @router.api_route("/judges", methods=["GET", "HEAD"], include_in_schema=False)
    async def table(request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        asked = read_query(request, board_versions)
        response = await board_versions[0].ready(
            f"{version_key(board_versions)}|{asked.url()}",
            lambda: status_page(_table_page(board_versions, asked, relations=relations)),
        )
        return respond(response, request.headers)

    @router.api_route("/judges/{slug}", methods=["GET", "HEAD"], include_in_schema=False)
    async def judge(slug: str, request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        page = await board_versions[0].executor.take(
            lambda name: _judge_page(board_versions, name, relations=relations), slug
        )
        if page is None:
            return not_found_page(boards[0].context, request.headers)
        return respond(status_page(page), request.headers, drawing=True)

    return router


def _add_comparisons(router: APIRouter, boards: Sequence[BoardCache]) -> None:
    """Add what is about several judges or benchmarks, ahead of the page of one judge."""

    @router.get("/api/v1/judges/compare", include_in_schema=False)
    @router.api_route("/judges/compare", methods=["GET", "HEAD"], include_in_schema=False)
    async def comparison(request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        version, ids = await board_versions[0].executor.take(
            lambda asked: _entries_of(board_versions, asked), request.query_params
        )
        if request.url.path.startswith("/api/"):
            return RedirectResponse(f"/api/v1/compare?benchmark={version.benchmark}&entries={','.join(ids)}")
        return RedirectResponse(version.context.prefix + compare_url(ids))

    @router.api_route("/agreement", methods=["GET", "HEAD"], include_in_schema=False)
    async def agreement(request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        query = of_agreement(read_query(request, board_versions))
        key = f"{version_key(board_versions)}|{query.url('/agreement')}"
        response = await board_versions[0].ready(key, lambda: status_page(_agreement_page(board_versions, query)))
        return respond(response, request.headers, drawing=True)

    @router.api_route("/agreement.{kind}", methods=["GET", "HEAD"], include_in_schema=False)
    async def figure(kind: str, request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        if kind not in FILES:
            return not_found_page(boards[0].context, request.headers)
        query, narrow = of_agreement(read_query(request, board_versions)), request.query_params.get("narrow") == "1"
        key = f"{version_key(board_versions)}|{AgreementQuery(query).url(kind, narrow=narrow)}"
        response = await board_versions[0].ready(
            key, lambda: CachedResponse.of(_agreement_file(board_versions, query, kind, narrow=narrow), FILES[kind])
        )
        return respond(response, request.headers)


def _entries_of(board_versions: Sequence[BoardVersion], asked: QueryParams) -> tuple[BoardVersion, list[str]]:
    """Return the benchmark asked for, or else the one that has most of the judges, and their leading results on it."""
    slugs = [asked.get("a", ""), asked.get("b", ""), *asked.getlist("judge")]
    lines = [line for line in lines_of(board_versions) if line.slug in slugs]
    results = [
        (version, [row.id for line in lines if (cell := line.cells[at]) and (row := cell.leading_row)])
        for at, version in enumerate(board_versions)
    ]
    named = [result for result in results if result[0].benchmark == asked.get("benchmark")]
    return max(named or results, key=lambda result: len(result[1]))


def _agreements(board_versions: Sequence[BoardVersion], asked: JudgesQuery) -> list[BenchmarkAgreement]:
    return agreements(matching(lines_of(board_versions), asked), [version.board() for version in board_versions])


def _agreement_file(board_versions: Sequence[BoardVersion], asked: JudgesQuery, kind: str, *, narrow: bool) -> bytes:
    """Return the figure of a view as a file of one of FILES."""
    version = board_versions[0]
    page = Page(version.spec, narrow, language=version.context.language)
    chart = agreement_chart(_agreements(board_versions, asked), page)
    text = f"\ufeff{chart.csv}" if kind == "csv" else json.dumps(chart_json(chart, version.spec), ensure_ascii=False)
    return text.encode()


def _agreement_page(board_versions: Sequence[BoardVersion], asked: JudgesQuery) -> str:
    results = _agreements(board_versions, asked)
    values = {
        "comparisons": results,
        "verdict": agreement_verdict(results),
        "asked": asked,
        "least": LEAST,
        "lead": LEAD,
    }
    values["parts"] = named_parts([version.board() for version in board_versions])
    values["drawn"] = AgreementQuery(asked) if any(result.judges for result in results) else None
    return render(board_versions[0].context, "agreement.html", current="/judges", **values)


def _table_page(board_versions: Sequence[BoardVersion], asked: JudgesQuery, *, relations: Sequence[Relations]) -> str:
    context = board_versions[0].context
    selection = selected(board_versions, asked, relations=relations)
    return render(
        context,
        "judges.html",
        current="/judges",
        selection=_page(selection, asked),
        composite_parts=named_parts(selection.boards) if selection.composites else "",
        asked=asked,
        prefixes=_prefixes(board_versions),
        part_of=part_of,
        variant_of=variant_of,
    )


def _page(selection: SelectedLines, asked: JudgesQuery) -> SelectedLines:
    """Return one page of the lines."""
    pages = max(1, -(-selection.total // PAGE))
    page = min(asked.page, pages)
    return replace(selection, lines=selection.lines[(page - 1) * PAGE : page * PAGE], page=page, pages=pages)


def _prefixes(board_versions: Sequence[BoardVersion]) -> dict[str, str]:
    return {board_version.benchmark: board_version.context.prefix for board_version in board_versions}


def _judge_page(board_versions: Sequence[BoardVersion], slug: str, *, relations: Sequence[Relations]) -> str | None:
    every = lines_of(board_versions)
    line = next((line for line in every if line.slug == slug), None)
    if line is None:
        return _left_out_page(board_versions[0], slug)
    reported = any(cell.reports for cell in line.cells if cell is not None)
    missing = [
        board_version.spec.title for board_version, cell in zip(board_versions, line.cells, strict=True) if cell is None
    ]
    prefixes = _prefixes(board_versions)
    values = {"line": line, "prefixes": prefixes, "missing": missing, "reported": reported}
    values["composite"] = composite_of(every, prefixes, tested=tested(board_versions, relations)).get(slug)
    values |= {"arithmetic": findings_of(board_versions), "part_of": part_of, "variant_of": variant_of}
    values["results"] = [
        result
        for board_version, cell in zip(board_versions, line.cells, strict=True)
        if (result := _scored_result(board_version, cell)) is not None
    ]
    return render(board_versions[0].context, "judge.html", current="/judges", **values)


def _scored_result(board_version: BoardVersion, cell: JudgeResult | None) -> dict[str, Any] | None:
    """Return what the page of a judge says of its best entry on one benchmark, and its other versions there."""
    entry = board_version.entry(cell.scored.id) if cell is not None and cell.scored is not None else None
    if cell is None or entry is None:
        return None
    summary = entry_summary(board_version, cell.board, entry)
    return {**summary, "cell": cell, "start": board_version.context.prefix, "compare_url": compare_url}


def _left_out_page(board_version: BoardVersion, slug: str) -> str | None:
    """Return the page of a method that claims something about the benchmark without a figure."""
    method = next((one for one in left_out(board_version.spec) if judge_slug(one.name) == slug), None)
    if method is None:
        return None
    links = ((method.source, method.url), (_("Published figures, checked"), f"{board_version.context.prefix}/reported"))
    return message_page(board_version.context, method.name, lead=_(method.why), links=links)
