"""REST routes ``GET /api/v1/check-numbers`` and ``GET /api/v1/compare``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.board.query import compare_url
from leaderboard.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.pages import compare, compare_page
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.render_context import RenderContext, ServedBenchmark
from leaderboard.responses import json_body, refuse_unknown, respond, version_or_problem
from vlrb.common.messages import _
from vlrb.numbers import report as number_check
from vlrb.numbers.figures import BadFigures

AsOf = Annotated[
    str | None,
    Query(description="An old board: a day, an ISO instant (UTC unless it says otherwise) or a snapshot's id"),
]


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return both routes, for a router that has the prefix."""
    router = APIRouter()
    spec = cache.spec
    one_grouping = Query(spec.official, description=f"One of {', '.join(spec.groupings)}")

    @router.get(
        "/check-numbers",
        summary="Which counts could be behind published percentages",
        responses=answers("check-numbers"),
        openapi_extra=_percentages(cache.context),
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
            return _bad_figures(wrong)
        return respond(json_body(result), request.headers)

    @router.get(
        "/compare",
        summary="Two to five entries, paired differences with intervals and p values",
        responses=answers("compare"),
    )
    async def compare_entries(
        request: Request,
        entries: Annotated[str, Query(description="Two to five ids, separated by commas", max_length=400)],
        *,
        grouping: str = one_grouping,
        revision: Annotated[str | None, Query(description="Label revision; the current one if left out")] = None,
        as_of: AsOf = None,
    ) -> Response:
        board_version = await version_or_problem(cache, request)
        if isinstance(board_version, Response):
            return board_version
        wrong = _refused(board_version, entries, grouping=grouping, revision=revision)
        if wrong is not None:
            return wrong
        ids = compare_page.read_entries(entries)

        def make() -> CachedResponse:
            relations = catalog.relations(board_version, revision or "")
            result = compare.compare(
                board_version, ids, relations=relations, grouping=grouping, revision=revision or ""
            )
            return json_body(compare.to_json(result))

        key = "/api/v1" + compare_url(ids, "" if grouping == spec.official else grouping, revision=revision or "")
        return respond(await board_version.ready(key, make), request.headers)

    return router


def _bad_figures(wrong: BadFigures) -> Response:
    more = {"known": list(wrong.known)} if wrong.known else {}
    return problem(400, "bad-figures", detail=str(wrong), parameter=wrong.field, **more)


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


def _refused(board_version: BoardVersion, entries: str, *, grouping: str, revision: str | None) -> Response | None:
    wrong = refuse_unknown("grouping", grouping, known=board_version.spec.groupings)
    wrong = wrong or (refuse_unknown("revision", revision, known=board_version.revisions) if revision else None)
    if wrong is not None:
        return wrong
    ids = compare_page.read_entries(entries)
    if not 2 <= len(ids) <= compare.MOST:
        detail = f"entries is a list of 2 to {compare.MOST} different ids, separated by commas."
        return problem(400, "bad-entries", detail=detail, parameter="entries")
    rows = board_version.board(grouping=grouping, revision=revision or "").rows
    known_ids = {row.id for row in rows if row.tier != "baseline"}
    unknown = [name for name in ids if name not in known_ids]
    if unknown:
        return problem(404, "unknown-entry", detail=f"There is no entry {', '.join(unknown)}.", unknown=unknown)
    return None
