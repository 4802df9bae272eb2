"""REST routes about judges on all benchmarks served: what their pages show, as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.judges.agreement import BenchmarkAgreement, agreement_verdict, agreements
from leaderboard.judges.composite import JudgeComposite
from leaderboard.judges.parameters import COMPOSITE, NAME, TIERS, JudgesQuery, matching
from leaderboard.judges.selection import AllBoards
from leaderboard.judges.table import judge_json, part_json
from leaderboard.ranking.rows import Board
from leaderboard.site.responses import json_body, respond
from vlrb.common.messages import _
from vlrb.statistics.rank_agreement import LEAST

# A view's own reader takes the parameters, and ignores what means nothing.
SearchQuery = Annotated[str, Query(description="As on the board: words, open:yes, size:<10")]
TierQuery = Annotated[str, Query(description=f"Results that count: {', '.join(TIERS)}")]


def build(current: Callable[[], Awaitable[AllBoards]]) -> APIRouter:
    """Return the routes; ``current`` gives the boards of all benchmarks."""
    router = APIRouter(prefix="/api/v1", tags=["leaderboard"])
    order = Query("", description=f"{NAME}, {COMPOSITE} or the id of a benchmark; those scored here first if left out")

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
        found = await current()
        asked = found.read(request.query_params)
        response = await found.ready(asked.url("/api/v1/judges"), lambda: json_body(_judges(found, asked)))
        return respond(response, request.headers)

    @router.get("/judges/{slug}", summary="One judge on all benchmarks", responses=answers("judge"))
    async def judge(slug: str, request: Request) -> Response:
        """Return one judge with its composite and its figures on each benchmark, scored here and reported."""
        found = await current()
        body = await found.versions[0].executor.take(partial(_judge, found), slug)
        if body is None:
            return problem(
                404, "unknown-judge", detail=_("There is no judge with this slug. /api/v1/judges lists them.")
            )
        return respond(json_body(body), request.headers)

    @router.get("/agreement", summary="Whether benchmarks put judges in the same order", responses=answers("agreement"))
    async def agreement(request: Request, q: SearchQuery = "", *, tier: TierQuery = "") -> Response:
        """Return Spearman's rank correlation of every two benchmarks over the judges that have the headline of
        both."""
        found = await current()
        asked = found.read(request.query_params).of_agreement
        response = await found.ready(asked.url("/api/v1/agreement"), lambda: json_body(_agreement(found, asked)))
        return respond(response, request.headers)

    return router


# Bodies


def _judges(found: AllBoards, asked: JudgesQuery) -> dict[str, Any]:
    composites, findings = found.composites, found.findings
    lines = found.select(asked, composites)
    parts = _parts(found.boards)
    return {
        "benchmarks": list(found.prefixes),
        "judges": [
            {**judge_json(line, findings), "composite": _composite(composites.get(line.slug), parts)} for line in lines
        ],
    }


def _judge(found: AllBoards, slug: str) -> dict[str, Any] | None:
    line = found.find(slug)
    if line is None:
        return None
    composite = _composite(found.composites.get(slug), _parts(found.boards))
    return {**judge_json(line, found.findings), "composite": composite}


def _parts(boards: Sequence[Board]) -> dict[str, Any]:
    """Return of which benchmarks only a part of the pairs is here."""
    return {board.benchmark: part for board in boards if (part := part_json(board)) is not None}


def _composite(judge: JudgeComposite | None, parts: Mapping[str, Any]) -> dict[str, Any] | None:
    if judge is None:
        return None
    composite = judge.composite
    ranks = None if composite.best is None else [composite.best, composite.worst]
    entries = {name: {"entry": row.id, "version": row.version or None} for name, row in judge.rows.items()}
    return {
        "value": composite.value,
        "interval": list(composite.interval),
        "rank_range": ranks,
        "entries": entries,
        "parts": parts,
    }


def _agreement(found: AllBoards, asked: JudgesQuery) -> dict[str, Any]:
    results = agreements(matching(found.lines, asked), found.boards)
    return {
        "verdict": agreement_verdict(results),
        "judges_needed": LEAST,
        "pairs": [_agreeing(result) for result in results],
    }


def _agreeing(result: BenchmarkAgreement) -> dict[str, Any]:
    correlation = result.correlation
    return {
        "benchmarks": [result.first.benchmark, result.second.benchmark],
        "parts": _parts((result.first, result.second)),
        "n": len(result.judges),
        "correlation": None if correlation is None else correlation.rho,
        "interval": None if correlation is None else list(correlation.interval),
        "judges": [
            {"judge": judge.slug, "name": judge.name, "values": [judge.first, judge.second], "scored": not judge.hollow}
            for judge in result.judges
        ],
    }
