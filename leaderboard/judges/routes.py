"""Pages ``GET /judges`` and ``GET /judges/{slug}``, and ``GET /api/v1/judges``: judges on all benchmarks served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from benchmark.statistics.composite import Composite
from leaderboard.board.rows import Board
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
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
from leaderboard.pages.status_pages import not_found_page, status_page
from leaderboard.render import render
from leaderboard.responses import JSON, respond
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


def build(boards: Sequence[BoardCache]) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first."""
    router = APIRouter()

    @router.api_route("/judges", methods=["GET", "HEAD"], include_in_schema=False)
    async def table(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        made = await editions[0].ready(
            f"{_key(editions)}|{asked.url()}", lambda: status_page(_table_page(editions, asked))
        )
        return respond(made, request.headers)

    @router.api_route("/judges.tex", methods=["GET", "HEAD"], include_in_schema=False)
    async def latex(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        address = base_of(editions[0], request) + asked.url()
        made = await editions[0].ready(
            f"{_key(editions)}.tex|{address}",
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
        made = await editions[0].ready(f"/api/v1{_key(editions)}|{asked.search}", lambda: _judges_body(editions, asked))
        return respond(made, request.headers)

    return router


def _read(request: Request, editions: Sequence[BoardVersion]) -> JudgesQuery:
    return read_judges_query(request.query_params, [edition.benchmark for edition in editions])


def _key(editions: Sequence[BoardVersion]) -> str:
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
    return CachedResponse.of(orjson.dumps(body), JSON, quick=True)
