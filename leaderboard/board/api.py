"""The board and its entries as JSON. Errors are RFC 9457 problem details with a stable ``code``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from auth.problem_details import problem
from common.openapi import answers
from leaderboard.compare import api as compare_api
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.columns import by_key, columns_of
from leaderboard.ranking.disclosure import entry_behaviour, redact_entry, strict_as_shown
from leaderboard.ranking.findings import findings_json
from leaderboard.ranking.opening import finding
from leaderboard.ranking.parameters import ordered_as, read_query, row_test
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.reported import api as check_api
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.responses import AsOf, json_body, no_entry, refuse_unknown, respond, version_or_problem
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.protocols import protocols
from vlrb.scorecard import scorecard
from vlrb.scoring import Tally

_BEFORE = (
    "id",
    "rank",
    "rank_range",
    "model",
    "version",
    "judge",
    "judge_name",
    "organisation",
    "tier",
    "judge_type",
)
_AFTER = (
    "interval",
    "best_of",
    "decided_rate",
    "votes_per_item",
    "attempt",
    "attempts",
    "submitted_at",
    "source",
    "url",
    "remark",
)
_LATER = (
    "parameters_b",
    "open_weights",
    "base_model",
    "version_of",
    "annotation",
    "annotation_url",
)  # published after the fields that submitters may state
LARGEST_PAGE, _USUAL_PAGE = 1000, 100  # rows
_CURSOR = re.compile(r"([0-9a-f]{16}|)\.(\d{1,9})")  # without a snapshot before there was one
_LONGEST_SORT = 80
RevisionQuery = Annotated[str | None, Query(description="Label revision; the current one if left out")]


@dataclass(frozen=True, slots=True)
class PageOfRows:
    """Which rows are asked for; without a limit all of them. `snapshot`: the first digits of its id, or "". `sort`: the
    column that orders them, `key` or `key:asc`; "" is display order. `tier`: "scored", "reported" or "" for both."""

    start: int = 0
    limit: int | None = None
    snapshot: str = ""
    sort: str = ""
    tier: str = ""

    @property
    def key(self) -> str:
        """Return what tells pages of one board apart."""
        page = "" if self.limit is None else f"|{self.start}+{self.limit}"
        return "|".join((page, self.sort, self.tier)) if self.sort or self.tier else page

    def cut(self, rows: Sequence[BoardRow]) -> Sequence[BoardRow]:
        """Return the rows of this page."""
        return rows if self.limit is None else rows[self.start : self.start + self.limit]

    def following(self, rows: int, snapshot_id: str) -> str | None:
        """Return the cursor of the next page of so many rows; None where this is the last one."""
        after = self.start + (self.limit or rows)
        return f"{snapshot_id[:16]}.{after}" if after < rows else None


ALL_ROWS = PageOfRows()


async def _benchmark_parameter(
    benchmark: Annotated[str | None, Query(description="Id of a benchmark; the first one if left out")] = None,
) -> None:
    """Describe the parameter; web/benchmarks.py has picked the board by it."""


@cache
def columns(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the fields of a row in the order in which they were published; a column that is declared later follows."""
    known = (*_BEFORE, *spec.overall_first, *_AFTER)
    stated = [column.key for column in columns_of(spec) if column.key not in (*known, *_LATER, "date")]
    return (*known, *stated, *_LATER)


def build(board_cache: BoardCache, catalog: ItemCatalog) -> APIRouter:
    """``GET /api/v1/leaderboard`` and ``GET /api/v1/entries/{id}``, and the routes of comparison and number check."""
    router = APIRouter(prefix="/api/v1", tags=["leaderboard"], dependencies=[Depends(_benchmark_parameter)])
    spec = board_cache.spec
    rules, groupings = tuple(protocols(spec)), tuple(spec.groupings)
    one_protocol = Query(spec.ranking, description="How votes become right or wrong: " + ", ".join(rules))
    one_grouping = Query(spec.official, description="Which sources make a category: " + ", ".join(groupings))

    @router.get("/leaderboard", summary="The board", responses=answers("leaderboard"))
    async def leaderboard(
        request: Request,
        protocol: str = one_protocol,
        *,
        grouping: str = one_grouping,
        revision: RevisionQuery = None,
        as_of: AsOf = None,
        page: AskedPage = ALL_ROWS,
    ) -> Response:
        if page is None:
            return problem(400, "invalid-cursor", detail="cursor is `next` of the page before.", parameter="cursor")
        board_version = await version_or_problem(board_cache, request, snapshot=page.snapshot)
        if isinstance(board_version, Response):
            return board_version
        own, asked = board_version.spec, request.query_params  # an old board keeps the rules that it had
        protocol, grouping = asked.get("protocol", own.ranking), asked.get("grouping", own.official)
        wrong = (
            refuse_unknown("protocol", protocol, known=tuple(protocols(own)))
            or refuse_unknown("grouping", grouping, known=tuple(own.groupings))
            or (refuse_unknown("revision", revision, known=board_version.revisions) if revision else None)
            or (_unknown_sort(page.sort, spec) if page.sort else None)
            or (refuse_unknown("tier", page.tier, known=TIERS) if page.tier else None)
        )
        if wrong is not None:
            return wrong
        key = f"/api/v1/leaderboard|{protocol}|{grouping}|{revision or ''}{page.key}"
        response = await board_version.ready(
            key,
            lambda: json_body(leaderboard_json(board_version.board(protocol, grouping, revision=revision or ""), page)),
        )
        return respond(response, request.headers)

    @router.get("/entries/{entry_id}", summary="Scorecard of an entry", responses=answers("entry"))
    async def entry(entry_id: str, request: Request, *, revision: RevisionQuery = None, as_of: AsOf = None) -> Response:
        board_version = await version_or_problem(board_cache, request)
        if isinstance(board_version, Response):
            return board_version
        result = board_version.entry(entry_id)
        if result is None:
            reported = any(result.id == entry_id for result in board_version.published)
            return (
                problem(
                    404,
                    "no-scorecard",
                    detail=_("This result is reported from elsewhere; there are no votes to count."),
                )
                if reported
                else no_entry(board_version, entry_id)
            )
        wanted = revision or board_version.snapshot["label_revision"]
        if wanted not in result["tallies"]:
            known = ", ".join(result["tallies"])
            why = _("Not scored under label revision {revision!r}. Known: {known}.", revision=wanted, known=known)
            return problem(404, "not-scored", detail=why)
        key = f"/api/v1/entries/{entry_id}|{wanted}"
        response = await board_version.ready(
            key, lambda: json_body(entry_scorecard(result, wanted, board_version=board_version))
        )
        return respond(response, request.headers)

    router.include_router(compare_api.build(board_cache, catalog))
    router.include_router(check_api.build(board_cache.context))
    return router


def _asked_page(
    limit: Annotated[int | None, Query(ge=1, le=LARGEST_PAGE, description="Rows of a page; all if left out")] = None,
    cursor: Annotated[str, Query(description="`next` of the page before; it stays with that page's snapshot")] = "",
    *,
    sort: Annotated[
        str, Query(description="Column to order by, `key` or `key:asc`; the next page needs it again")
    ] = "",
    tier: Annotated[
        str, Query(description="scored: from uploaded predictions; reported: by authors; all if left out")
    ] = "",
) -> PageOfRows | None:
    """Return the rows that a request asks for; None for a cursor that is none."""
    sort, tier = sort[:_LONGEST_SORT], "" if tier == "all" else tier
    if not cursor:
        return PageOfRows(0, limit, sort=sort, tier=tier)
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        return None
    return PageOfRows(int(match[2]), limit or _USUAL_PAGE, snapshot=match[1], sort=sort, tier=tier)


TIERS = ("scored", "reported", "all")
AskedPage = Annotated[PageOfRows | None, Depends(_asked_page)]


def leaderboard_json(board: Board, page: PageOfRows = ALL_ROWS) -> dict[str, Any]:
    """Return the board; accuracies are fractions. A page of it says which one is next."""
    view = read_query({"sort": page.sort, "tier": page.tier}, (), spec=board.spec).on(board)
    test = row_test(view)
    rows = ordered_as([row for row in board.rows if row.tier != "baseline" and test(row)], view)
    following = {} if page.limit is None else {"next": page.following(len(rows), board.snapshot_id)}
    return {
        **board.identity,
        "headline": {"key": board.headline, "name": board.spec.name_of(board.headline)},
        "sizes": dict(board.sizes),
        "finding": " ".join(finding(board, view)),
        "unpublished": board.unpublished,
        "columns": list(columns(board.spec)),
        "entries": [_entry(row, board.spec) for row in page.cut(rows)],
        "baselines": [_entry(row, board.spec) for row in board.rows if row.tier == "baseline"],
        **following,
    }


def _entry(row: BoardRow, spec: BenchmarkSpec) -> dict[str, Any]:
    return {name: _plain(row, name) for name in columns(spec)}


def _best_of(row: BoardRow | None) -> dict[str, Any] | None:
    """Return the selection among variants, as fractions."""
    if row is None or row.best_of is None:
        return None
    best_of = row.best_of
    return {"variants": best_of.variants, "gain": dict(best_of.gain), "interval": _intervals(best_of.interval)}


def _intervals(result: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
    return {name: list(bounds) for name, bounds in result.items()}


def _plain(row: BoardRow, name: str) -> Any:
    if name in ("interval", "best_of"):
        return _intervals(row.interval) if name == "interval" else _best_of(row)
    value = row.value(name)
    if name == "submitted_at" and not value:
        return row.date or None  # reported rows: the day of publication
    return value if value != "" or name == "version" else None


def entry_scorecard(entry: Mapping[str, Any], revision: str, *, board_version: BoardVersion) -> dict[str, Any]:
    """Return the scorecard of one entry under a label revision that it was scored with."""
    behaviour = entry_behaviour(entry, revision)
    tally = Tally.from_json(entry["tallies"][revision], board_version.spec)
    card = scorecard(tally, behaviour, benchmark=board_version.spec.id, label_revision=revision)
    card["scorer_version"] = board_version.snapshot["scorer_version"]
    row = board_version.board(revision=revision).find(entry["id"])
    best_of, remark = _best_of(row), row.remark or None if row is not None else None
    if redacted := board_version.is_redacted(revision):
        level = board_version.level(revision)
        card = redact_entry(card, board_version.spec, shown=strict_as_shown(tally, level), level=level)
    findings = findings_json(
        card["protocols"][board_version.spec.ranking],
        tally=None if redacted else tally,
        position_bias=behaviour.position_bias,
        keys=board_version.spec.category_keys,
    )
    return {**card, "best_of": best_of, "remark": remark, "findings": findings}


def _unknown_sort(sort: str, spec: BenchmarkSpec) -> Response | None:
    key, colon, direction = sort.partition(":")
    wrong = refuse_unknown("sort", key, known=tuple(by_key(spec)))
    return wrong or (refuse_unknown("sort", direction, known=("asc", "desc")) if colon else None)


def scorecard_on_board(board_cache: BoardCache, submission: str) -> dict[str, Any] | None:
    """Return the scorecard of an entry under the labels that the board shows; None until it is there."""
    board_version = board_cache.refresh()
    entry = board_version.entry(submission)
    revision = board_version.snapshot["label_revision"]
    scored = entry is not None and revision in entry["tallies"]
    return entry_scorecard(entry, revision, board_version=board_version) if entry and scored else None
