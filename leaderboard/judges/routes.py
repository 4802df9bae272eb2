"""Pages about judges on all benchmarks served: ``GET /judges``, ``/judges/{slug}``, ``/judges/compare``,
``/agreement``. The same as JSON: ``leaderboard.judges.api``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from leaderboard.board.query import compare_url
from leaderboard.board.reported_results import left_out
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.charts.layout import Page
from leaderboard.judges import api
from leaderboard.judges.agreement import BenchmarkAgreement, agreement_verdict, agreements
from leaderboard.judges.agreement_figure import LEAD, AgreementQuery, agreement_chart
from leaderboard.judges.compare import verdict
from leaderboard.judges.composite import composite_of
from leaderboard.judges.query import PAGE, JudgesQuery, matching
from leaderboard.judges.selection import (
    Relations,
    SelectedLines,
    chosen_slugs,
    compared,
    findings_of,
    lines_of,
    of_agreement,
    read_query,
    selected,
    tested,
    version_key,
)
from leaderboard.judges.table import JudgeResult, named_parts, part_of, variant_of
from leaderboard.pages import compare
from leaderboard.pages.analyse import FILES, chart_json
from leaderboard.pages.entry import entry_summary
from leaderboard.pages.status_pages import not_found_page, status_page
from leaderboard.render import message_page, render
from leaderboard.responses import respond
from vlrb.common.messages import _
from vlrb.judges import judge_slug
from vlrb.statistics.rank_agreement import LEAST

_PICKED = re.compile(r"\[([a-z0-9-]+)\]$")  # what an entry of the list of judges ends with


def build(boards: Sequence[BoardCache], relations: Sequence[Relations] = ()) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first; ``relations``: of each."""
    router = APIRouter()
    router.include_router(api.build(boards, relations))
    _add_comparisons(router, boards, relations=relations)

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


def _add_comparisons(router: APIRouter, boards: Sequence[BoardCache], *, relations: Sequence[Relations]) -> None:
    """Add the pages about two judges and about two benchmarks, ahead of that of one judge."""

    @router.api_route("/judges/compare", methods=["GET", "HEAD"], include_in_schema=False)
    async def comparison(request: Request) -> Response:
        board_versions = [await board.current() for board in boards]
        asked = chosen_slugs(request.query_params)
        search = read_query(request, board_versions).search
        page = await board_versions[0].executor.take(
            lambda slugs: _compare_page(board_versions, slugs, search=search, relations=relations), asked
        )
        return respond(status_page(page), request.headers)

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


def _compare_page(
    board_versions: Sequence[BoardVersion], asked: Sequence[str], *, search: str, relations: Sequence[Relations]
) -> str:
    if search and len(asked) < 2:
        found = _find_judge(board_versions, search)
        asked, search = (asked, search) if found is None else ((*asked, found), "")
    result = compared(board_versions, asked, relations=relations)
    lines, comparisons = result.lines, result.comparisons
    differences = [comparison.difference for comparison in comparisons if comparison.difference is not None]
    return render(
        board_versions[0].context,
        "judges_compare.html",
        current="/judges",
        lines=lines,
        unknown=result.unknown,
        comparisons=comparisons,
        verdict=verdict((lines[0], lines[1]), comparisons) if comparisons else "",
        listed=result.every,
        search=search,
        prefixes=_prefixes(board_versions),
        words=compare,
        part_of=part_of,
        axis=compare.reach([differences]),
    )


def _find_judge(board_versions: Sequence[BoardVersion], text: str) -> str | None:
    """Return the slug of the judge that a text means: as a choice of the list ends, or the first that it finds."""
    if picked := _PICKED.search(text):
        return picked[1]
    return next((line.slug for line in matching(lines_of(board_versions), JudgesQuery(search=text))), None)


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
