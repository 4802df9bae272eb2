"""REST route ``GET /api/v1/compare``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.compare import pages as compare_page
from leaderboard.compare import service as compare
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.parameters import compare_url
from leaderboard.site.cache import BoardCache, BoardVersion, CachedResponse
from leaderboard.site.responses import AsOf, json_body, refuse_unknown, respond, version_or_problem
from vlrb.common.messages import _


def build(cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """Return the route, for a router that has the prefix."""
    router = APIRouter()
    spec = cache.spec
    one_grouping = Query(spec.official, description=f"One of {', '.join(spec.groupings)}")

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
        detail = _("There is no entry {names}.", names=", ".join(unknown))
        return problem(404, "unknown-entry", detail=detail, unknown=unknown)
    return None
