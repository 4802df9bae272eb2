"""Pages ``GET /judges`` and ``GET /judges/{slug}``, and ``GET /api/v1/judges``: judges on all benchmarks served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from benchmark.statistics.composite import Composite
from leaderboard.board.rows import Board
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.judges.composite import composite_of, parse_weight
from leaderboard.judges.latex import judges_latex
from leaderboard.judges.table import JudgeLine, judge_json, judge_lines, sorted_lines
from leaderboard.pages.status_pages import not_found_page, status_page
from leaderboard.render import render
from leaderboard.responses import json_body, respond
from leaderboard.share.exports import FORMATS
from leaderboard.share.routes import base_of

_MOST_SEARCH = 100


@dataclass(frozen=True, slots=True)
class JudgesQuery:
    """What a visitor of the table asked for. ``sort``: a benchmark's id, ``name``, ``composite``, or "" for the usual
    order. ``weights``: of the composite, by benchmark."""

    sort: str = ""
    search: str = ""
    weights: tuple[tuple[str, float], ...] = ()

    def url(self, sort: str, path: str = "/judges") -> str:
        """Return the address of the same table in another order."""
        chosen = [(f"w-{name}", f"{weight:g}") for name, weight in self.weights if weight != 1]
        pairs = [("q", self.search), ("sort", sort), *chosen]
        query = urlencode([(name, value) for name, value in pairs if value])
        return path + (f"?{query}" if query else "")


def build(boards: Sequence[BoardCache]) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first."""
    router = APIRouter()

    @router.api_route("/judges", methods=["GET", "HEAD"], include_in_schema=False)
    async def table(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        made = await editions[0].ready(
            f"{version_key(editions)}|{asked.url(asked.sort)}", lambda: status_page(_table_page(editions, asked))
        )
        return respond(made, request.headers)

    @router.api_route("/judges.tex", methods=["GET", "HEAD"], include_in_schema=False)
    async def latex(request: Request) -> Response:
        editions = [await board.current() for board in boards]
        asked = _read(request, editions)
        address = base_of(editions[0], request) + asked.url(asked.sort)
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
        request: Request, q: Annotated[str, Query(description="Text in the judge's name")] = ""
    ) -> Response:
        """Return every judge with its scored and reported overall figures on each benchmark; a benchmark without a
        result is missing."""
        editions = [await board.current() for board in boards]
        asked = JudgesQuery(search=q.strip()[:_MOST_SEARCH])
        made = await editions[0].ready(
            f"/api/v1{version_key(editions)}|{asked.search}", lambda: _judges_body(editions, asked)
        )
        return respond(made, request.headers)

    return router


def _read(request: Request, editions: Sequence[BoardVersion]) -> JudgesQuery:
    sort, search = request.query_params.get("sort", ""), request.query_params.get("q", "").strip()[:_MOST_SEARCH]
    known = ("name", "composite", *(edition.benchmark for edition in editions))
    names = [edition.benchmark for edition in editions]
    weights = tuple((name, parse_weight(request.query_params.get(f"w-{name}"))) for name in names)
    return JudgesQuery(sort if sort in known else "", search, weights)


def version_key(editions: Sequence[BoardVersion]) -> str:
    """Return the key of what is made of these boards: hiding an entry makes a version anew of the same snapshot."""
    return "/judges|" + "|".join(f"{edition.snapshot_id}.{edition.serial}" for edition in editions)


def _lines(editions: Sequence[BoardVersion]) -> tuple[JudgeLine, ...]:
    return judge_lines([edition.board() for edition in editions])


def _table_page(editions: Sequence[BoardVersion], asked: JudgesQuery) -> str:
    boards, lines, result = _ordered(editions, asked)
    prefixes = {edition.benchmark: edition.context.prefix for edition in editions}
    context = editions[0].context
    values = {"lines": lines, "boards": boards, "composites": result, "asked": asked, "prefixes": prefixes}
    return render(
        context, "judges.html", current="/judges", weights=dict(asked.weights), format=FORMATS["tex"], **values
    )


def _latex(editions: Sequence[BoardVersion], asked: JudgesQuery, address: str) -> bytes:
    boards, lines, result = _ordered(editions, asked)
    return judges_latex(lines, boards, result, address)


def _ordered(
    editions: Sequence[BoardVersion], asked: JudgesQuery
) -> tuple[list[Board], list[JudgeLine], dict[str, Composite]]:
    """Return the boards, the lines that were asked for in their order, and the composites of all judges."""
    boards = [edition.board() for edition in editions]
    every = judge_lines(boards)
    result = composite_of(every, dict(asked.weights))
    lines = sorted_lines(every, boards, asked.sort, asked.search)
    if asked.sort == "composite":
        lines.sort(key=lambda line: -result[line.slug].value if line.slug in result else 1.0)
    return boards, lines, result


def _judge_page(editions: Sequence[BoardVersion], slug: str) -> str | None:
    line = next((line for line in _lines(editions) if line.slug == slug), None)
    if line is None:
        return None
    prefixes = {edition.benchmark: edition.context.prefix for edition in editions}
    reported = any(cell.reports for cell in line.cells if cell is not None)
    missing = [edition.spec.title for edition, cell in zip(editions, line.cells, strict=True) if cell is None]
    values = {"line": line, "prefixes": prefixes, "missing": missing, "reported": reported}
    return render(editions[0].context, "judge.html", current="/judges", **values)


def _judges_body(editions: Sequence[BoardVersion], asked: JudgesQuery) -> CachedResponse:
    boards = [edition.board() for edition in editions]
    lines = sorted_lines(judge_lines(boards), boards, asked.sort, asked.search)
    body = {"benchmarks": [board.benchmark for board in boards], "judges": [judge_json(line) for line in lines]}
    return json_body(body)
