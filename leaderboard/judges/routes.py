"""Pages about judges on all benchmarks served: ``GET /judges``, ``/judges/{slug}``, ``/judges/compare``,
``/agreement``; and ``GET /api/v1/judges``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from benchmark.judges import MOST_SLUG
from benchmark.statistics.composite import Composite
from benchmark.statistics.pairwise import PairwiseArrays
from benchmark.statistics.rank_agreement import LEAST
from leaderboard.board.rows import Board
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.judges.agreement import agreement_verdict, agreements
from leaderboard.judges.compare import BenchmarkComparison, compare_judges, offered_judges, verdict
from leaderboard.judges.composite import composite_of
from leaderboard.judges.latex import judges_latex
from leaderboard.judges.query import (
    COMPOSITE,
    JUDGE_FILTERS,
    MOST_SEARCH,
    PAGE,
    JudgesQuery,
    matching,
    read_judges_query,
)
from leaderboard.judges.table import JudgeLine, judge_json, judge_lines, sorted_lines
from leaderboard.pages import compare
from leaderboard.pages.status_pages import not_found_page, status_page
from leaderboard.render import render
from leaderboard.responses import json_body, respond
from leaderboard.share.exports import FORMATS
from leaderboard.share.routes import base_of


@dataclass(frozen=True, slots=True)
class SelectedLines:
    """The lines of one page, how many there are in all, and the composites of all judges."""

    boards: tuple[Board, ...]
    lines: tuple[JudgeLine, ...]
    total: int
    page: int
    pages: int
    composites: Mapping[str, Composite]


Relations = Callable[[BoardVersion], PairwiseArrays | None]
"""The paired counts of a board; it blocks."""


def build(boards: Sequence[BoardCache], relations: Sequence[Relations] = ()) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first; ``relations``: of each."""
    router = APIRouter()
    _add_comparisons(router, boards, relations)

    @router.api_route("/judges", methods=["GET", "HEAD"], include_in_schema=False)
    async def table(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        made = await editions[0].ready(
            f"{version_key(editions)}|{asked.url()}", lambda: status_page(_table_page(editions, asked))
        )
        return respond(made, request.headers)

    @router.api_route("/judges.tex", methods=["GET", "HEAD"], include_in_schema=False)
    async def latex(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        address = base_of(editions[0], request) + asked.url()
        made = await editions[0].ready(
            f"{version_key(editions)}.tex|{address}",
            lambda: CachedResponse.of(_latex(editions, asked, address), "application/x-tex; charset=utf-8"),
        )
        return respond(made, request.headers)

    @router.api_route("/judges/{slug}", methods=["GET", "HEAD"], include_in_schema=False)
    async def judge(slug: str, request: Request) -> Response:
        editions = [await board.current() for board in boards]
        page = await editions[0].turns.take(lambda name: _judge_page(editions, name), slug)
        if page is None:
            return not_found_page(boards[0].context, request.headers)
        return respond(status_page(page), request.headers)

    @router.get("/api/v1/judges", tags=["leaderboard"], summary="Judges on all benchmarks")
    async def judges(
        request: Request,
        q: Annotated[str, Query(description="As on the board: words, open:yes, size:<10")] = "",
    ) -> Response:
        """Return every judge with its scored and reported overall figures on each benchmark; a benchmark without a
        result is missing."""
        editions = [await board.current() for board in boards]
        asked = JudgesQuery(search=q.strip()[:MOST_SEARCH])
        made = await editions[0].ready(
            f"/api/v1{version_key(editions)}|{asked.search}", lambda: _judges_body(editions, asked)
        )
        return respond(made, request.headers)

    return router


def _add_comparisons(router: APIRouter, boards: Sequence[BoardCache], relations: Sequence[Relations]) -> None:
    """Add the pages about two judges and about two benchmarks, ahead of that of one judge."""

    @router.api_route("/judges/compare", methods=["GET", "HEAD"], include_in_schema=False)
    async def comparison(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = chosen_slugs(request.query_params)
        page = await editions[0].turns.take(lambda slugs: _compare_page(editions, slugs, relations), asked)
        return respond(status_page(page), request.headers)

    @router.api_route("/agreement", methods=["GET", "HEAD"], include_in_schema=False)
    async def agreement(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        shown = JudgesQuery(search=asked.search, tier=asked.tier, filters=asked.filters)
        key = f"{version_key(editions)}|{shown.url('/agreement')}"
        made = await editions[0].ready(key, lambda: status_page(_agreement_page(editions, shown)))
        return respond(made, request.headers)


def chosen_slugs(parameters: QueryParams) -> tuple[str, ...]:
    """Return the judges that an address compares: ``a`` and ``b``, or the first two of ``judge``."""
    named = [parameters.get("a", ""), parameters.get("b", ""), *parameters.getlist("judge")]
    return tuple(dict.fromkeys(slug[:MOST_SLUG] for slug in named if slug))[:2]


def _compare_page(editions: Sequence[BoardVersion], asked: Sequence[str], relations: Sequence[Relations]) -> str:
    by_slug = {line.slug: line for line in _lines(editions)}
    lines = [by_slug[slug] for slug in asked if slug in by_slug]
    found: Sequence[BenchmarkComparison] = ()
    if len(lines) == 2:
        known = {edition.benchmark: read(edition) for edition, read in zip(editions, relations, strict=False)}
        found = compare_judges((lines[0], lines[1]), editions, known)
    shown = [one.difference for one in found if one.difference is not None]
    return render(
        editions[0].context,
        "judges_compare.html",
        current="/judges",
        lines=lines,
        unknown=[slug for slug in asked if slug not in by_slug],
        found=found,
        verdict=verdict((lines[0], lines[1]), found) if found else "",
        offered=offered_judges(lines, tuple(by_slug.values())),
        prefixes=_prefixes(editions),
        words=compare,
        axis=compare.reach([shown]),
    )


def _agreement_page(editions: Sequence[BoardVersion], asked: JudgesQuery) -> str:
    boards = [edition.board() for edition in editions]
    found = agreements(matching(judge_lines(boards), asked), boards)
    values = {"found": found, "verdict": agreement_verdict(found), "asked": asked, "least": LEAST}
    return render(editions[0].context, "agreement.html", current="/judges", **values)


def _read(request: Request, editions: Sequence[BoardVersion]) -> JudgesQuery:
    return read_judges_query(request.query_params, [edition.benchmark for edition in editions])


def version_key(editions: Sequence[BoardVersion]) -> str:
    """Return the key of what is made of these boards: hiding an entry makes a version anew of the same snapshot."""
    return "/judges|" + "|".join(f"{edition.snapshot_id}.{edition.serial}" for edition in editions)


def _lines(editions: Sequence[BoardVersion]) -> tuple[JudgeLine, ...]:
    return judge_lines([edition.board() for edition in editions])


def _table_page(editions: Sequence[BoardVersion], asked: JudgesQuery) -> str:
    context = editions[0].context
    return render(
        context,
        "judges.html",
        current="/judges",
        found=_page(_selected(editions, asked), asked),
        asked=asked,
        filters=JUDGE_FILTERS,
        prefixes=_prefixes(editions),
        weights=dict(asked.weights),
        format=FORMATS["tex"],
    )


def _latex(editions: Sequence[BoardVersion], asked: JudgesQuery, address: str) -> bytes:
    found = _selected(editions, asked)
    return judges_latex(found.lines, found.boards, found.composites, address)


def _selected(editions: Sequence[BoardVersion], asked: JudgesQuery) -> SelectedLines:
    """Return all lines that were asked for, in their order."""
    boards = tuple(edition.board() for edition in editions)
    every = judge_lines(boards)
    composites = composite_of(every, dict(asked.weights))
    lines = sorted_lines(matching(every, asked), boards, asked.sort, descending=asked.descending)
    if asked.sort == COMPOSITE:
        sign = -1 if asked.descending else 1
        lines.sort(key=lambda line: sign * composites[line.slug].value if line.slug in composites else 2.0)
    return SelectedLines(boards, tuple(lines), len(lines), 1, 1, composites)


def _page(found: SelectedLines, asked: JudgesQuery) -> SelectedLines:
    """Return one page of the lines."""
    pages = max(1, -(-found.total // PAGE))
    page = min(asked.page, pages)
    return replace(found, lines=found.lines[(page - 1) * PAGE : page * PAGE], page=page, pages=pages)


def _prefixes(editions: Sequence[BoardVersion]) -> dict[str, str]:
    return {edition.benchmark: edition.context.prefix for edition in editions}


def _judge_page(editions: Sequence[BoardVersion], slug: str) -> str | None:
    line = next((line for line in _lines(editions) if line.slug == slug), None)
    if line is None:
        return None
    reported = any(cell.reports for cell in line.cells if cell is not None)
    missing = [edition.spec.title for edition, cell in zip(editions, line.cells, strict=True) if cell is None]
    values = {"line": line, "prefixes": _prefixes(editions), "missing": missing, "reported": reported}
    return render(editions[0].context, "judge.html", current="/judges", **values)


def _judges_body(editions: Sequence[BoardVersion], asked: JudgesQuery) -> CachedResponse:
    boards = [edition.board() for edition in editions]
    lines = matching(judge_lines(boards), asked)
    body = {"benchmarks": [board.benchmark for board in boards], "judges": [judge_json(line) for line in lines]}
    return json_body(body)
