"""REST route ``GET /api/v1/check-numbers``."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.site.render_context import RenderContext, ServedBenchmark
from leaderboard.site.responses import json_body, respond
from vlrb.common.messages import _
from vlrb.numbers import report as number_check
from vlrb.numbers.figures import BadFigures


def build(context: RenderContext) -> APIRouter:
    """Return the route, for a router that has the prefix."""
    router, spec = APIRouter(), context.spec

    @router.get(
        "/check-numbers",
        summary="Which counts could be behind published percentages",
        responses=answers("check-numbers"),
        openapi_extra=_percentages(context),
    )
    async def check_numbers(request: Request) -> Response:
        if not (spec.splits or spec.editions):
            return problem(
                404,
                "no-sizes",
                detail=_("The sizes of {title} are not known: there is nothing to check.", title=spec.title),
            )
        try:
            number_check.refuse_unknown(request.query_params, spec)
            result = number_check.answer(request.query_params, spec)
        except BadFigures as wrong:
            more = {"known": list(wrong.known)} if wrong.known else {}
            return problem(400, "bad-figures", detail=str(wrong), parameter=wrong.field, **more)
        return respond(json_body(result), request.headers)

    return router


def _percentages(context: RenderContext) -> dict[str, Any]:
    """Return the percentages that the benchmarks of the service take at this address, for OpenAPI."""
    takers: dict[str, list[str]] = {}
    for served in context.benchmarks or (ServedBenchmark.of(context.spec),):
        for name in served.figures:
            takers.setdefault(name, []).append(served.id)
    like = {"in": "query", "required": False, "schema": {"type": "string", "default": ""}}
    text = "Percent as printed: its decimals say how exact it is"
    return {
        "parameters": [
            {**like, "name": name, "description": f"{text}. Of {', '.join(ids)}"} for name, ids in takers.items()
        ]
    }
