"""REST routes about judges on all benchmarks served: what their pages show, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.board.rows import Board
from leaderboard.cache import BoardCache, BoardVersion
from leaderboard.judges.agreement import BenchmarkAgreement, agreement_verdict, agreements
from leaderboard.judges.composite import JudgeComposite, composite_of
from leaderboard.judges.query import COMPOSITE, NAME, TIERS, JudgesQuery, matching
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
from leaderboard.judges.table import Findings, JudgeLine, judge_json, judge_lines, part_json
from leaderboard.responses import json_body, respond
from vlrb.common.messages import _
from vlrb.statistics.rank_agreement import LEAST

# A view's own reader takes the parameters, and ignores what means nothing.
SearchQuery = Annotated[str, Query(description="As on the board: words, open:yes, size:<10")]
TierQuery = Annotated[str, Query(description=f"Results that count: {', '.join(TIERS)}")]


def build(boards: Sequence[BoardCache], relations: Sequence[Relations] = ()) -> APIRouter:
    """Return the routes; ``boards`` are those of all benchmarks, the first one first; ``relations``: of each."""
    router = APIRouter(prefix="/api/v1", tags=["leaderboard"])
    _add_judges(router, boards, relations=relations)
    _add_judge(router, boards, relations=relations)
    _add_agreement(router, boards)
    return router


def _add_judges(router: APIRouter, boards: Sequence[BoardCache], *, relations: Sequence[Relations]) -> None:
    orders = ", ".join((NAME, COMPOSITE, *(board.spec.id for board in boards)))
    order = Query("", description=f"{orders}; those scored here first if left out")

    @router.get("/judges", summary="Judges on all benchmarks", responses=answers("judges"))
    async def judges(
        request: Request,
        q: SearchQuery = "",
        *,
        tier: TierQuery = "",
        sort: str = order,
        direction: Annotated[str, Query(alias="dir", description="asc or desc")] = "",
    ) -> Response:
        """Return every judge with its composite and its figures on each benchmark, scored here and reported; a
        benchmark without a result is missing."""
        board_versions = [await board.current() for board in boards]
        asked = read_query(request, board_versions)
        response = await board_versions[0].ready(
            f"/api/v1{version_key(board_versions)}|{asked.url()}",
            lambda: json_body(
                _judges(selected(board_versions, asked, relations=relations), findings=findings_of(board_versions))
            ),
        )
        return respond(response, request.headers)


def _add_judge(router: APIRouter, boards: Sequence[BoardCache], *, relations: Sequence[Relations]) -> None:
    @router.get("/judges/{slug}", summary="One judge on all benchmarks", responses=answers("judge"))
    async def judge(slug: str, request: Request) -> Response:
        """Return one judge with its composite and its figures on each benchmark, scored here and reported."""
        board_versions = [await board.current() for board in boards]
        body = await board_versions[0].executor.take(
            lambda name: _judge(board_versions, name, relations=relations), slug
        )
        if body is None:
            return problem(
                404, "unknown-judge", detail=_("There is no judge with this slug. /api/v1/judges lists them.")
            )
        return respond(json_body(body), request.headers)


def _add_agreement(router: APIRouter, boards: Sequence[BoardCache]) -> None:
    @router.get("/agreement", summary="Whether benchmarks put judges in the same order", responses=answers("agreement"))
    async def agreement(request: Request, q: SearchQuery = "", *, tier: TierQuery = "") -> Response:
        """Return Spearman's rank correlation of every two benchmarks over the judges that have the headline of
        both."""
        board_versions = [await board.current() for board in boards]
        asked = of_agreement(read_query(request, board_versions))
        key = f"/api/v1{version_key(board_versions)}|{asked.url('/agreement')}"
        response = await board_versions[0].ready(key, lambda: json_body(_agreement(board_versions, asked)))
        return respond(response, request.headers)


# Bodies


def _judges(selection: SelectedLines, findings: Findings) -> dict[str, Any]:
    composites = _composites(selection.composites, selection.boards)
    return {
        "benchmarks": [board.benchmark for board in selection.boards],
        "judges": [_line(line, composites, findings=findings) for line in selection.lines],
    }


def _judge(
    board_versions: Sequence[BoardVersion], slug: str, *, relations: Sequence[Relations]
) -> dict[str, Any] | None:
    every = lines_of(board_versions)
    line = next((line for line in every if line.slug == slug), None)
    if line is None:
        return None
    boards = [board_version.board() for board_version in board_versions]
    found = composite_of(every, [board.benchmark for board in boards], tested=tested(board_versions, relations))
    return _line(line, _composites(found, boards), findings=findings_of(board_versions))


def _line(line: JudgeLine, composites: Mapping[str, dict[str, Any]], *, findings: Findings) -> dict[str, Any]:
    return {**judge_json(line, findings), "composite": composites.get(line.slug)}


def _composites(composites: Mapping[str, JudgeComposite], boards: Sequence[Board]) -> dict[str, dict[str, Any]]:
    """Return composites as programs get them. ``parts``: of which benchmarks only a part of the pairs is in them."""
    parts = {board.benchmark: part for board in boards if (part := part_json(board)) is not None}
    return {slug: {**_composite(composite), "parts": parts} for slug, composite in composites.items()}


def _composite(judge: JudgeComposite) -> dict[str, Any]:
    composite = judge.composite
    ranks = None if composite.best is None else [composite.best, composite.worst]
    entries = {name: {"entry": row.id, "version": row.version or None} for name, row in judge.rows.items()}
    return {"value": composite.value, "interval": list(composite.interval), "rank_range": ranks, "entries": entries}


def _agreement(board_versions: Sequence[BoardVersion], asked: JudgesQuery) -> dict[str, Any]:
    boards = [board_version.board() for board_version in board_versions]
    results = agreements(matching(judge_lines(boards), asked), boards)
    return {
        "verdict": agreement_verdict(results),
        "judges_needed": LEAST,
        "pairs": [_agreeing(result) for result in results],
    }


def _agreeing(result: BenchmarkAgreement) -> dict[str, Any]:
    correlation = result.correlation
    return {
        "benchmarks": [result.first.benchmark, result.second.benchmark],
        "parts": {
            board.benchmark: part for board in (result.first, result.second) if (part := part_json(board)) is not None
        },
        "n": len(result.judges),
        "correlation": None if correlation is None else correlation.rho,
        "interval": None if correlation is None else list(correlation.interval),
        "judges": [
            {"judge": judge.slug, "name": judge.name, "values": [judge.first, judge.second], "scored": not judge.hollow}
            for judge in result.judges
        ],
    }
