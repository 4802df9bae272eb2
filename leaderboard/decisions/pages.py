"""Pages ``GET /decisions`` and ``GET /decisions/{seq}``: the public decision log."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from leaderboard.charts.estimates import display_name
from leaderboard.decisions.service import RankChanges, rank_changes
from leaderboard.share.feed import Log, PublicDecision
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.pages import not_found_page, status_page
from leaderboard.site.render import render
from leaderboard.site.responses import respond

PAGE = 50
DIGITS = 16  # of a snapshot's id in addresses


def build(cache: BoardCache, log: Log, log_of_all: Log) -> APIRouter:
    """Return the routes; ``log_of_all`` has the decisions of other benchmarks too: their addresses lead to them."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/decisions", methods=["GET", "HEAD"])
    async def decisions(request: Request) -> Response:
        before = _seq(request.query_params.get("before", ""))
        result = await asyncio.to_thread(log, before, PAGE + 1, False)
        board_version = await cache.current()
        key = f"/decisions|{before}|{_digest(result)}"
        older = result[PAGE - 1]["seq"] if len(result) > PAGE else None
        make = partial(_page, board_version, result[:PAGE], first=before is None, older=older)
        response = await board_version.ready(key, lambda: status_page(make()))
        return respond(response, request.headers)

    @router.api_route("/decisions/{number}", methods=["GET", "HEAD"])
    async def one_decision(number: str, request: Request) -> Response:
        seq = _seq(number)
        decision = await asyncio.to_thread(_in_log, log_of_all, seq) if seq is not None else None
        if decision is None:
            return not_found_page(cache.context, request.headers)
        board_version, key = await cache.current(), f"/decisions/{seq}|{_digest([decision])}"
        response = board_version.get_cached(key)
        if response is None:
            changed = await _moves(cache, decision)
            make = partial(_page, board_version, [decision], alone=decision, moves=changed)
            response = await board_version.ready(key, lambda: status_page(make()))
        return respond(response, request.headers)

    return router


def _in_log(log: Log, seq: int) -> PublicDecision | None:
    return next((decision for decision in log(seq + 1, 1, True) if decision["seq"] == seq), None)


def _seq(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _digest(decisions: Sequence[PublicDecision]) -> str:
    return hashlib.sha256(orjson.dumps(list(decisions))).hexdigest()[:16]


async def _moves(cache: BoardCache, decision: PublicDecision) -> RankChanges | None:
    """Return what a decision about the board has moved; None for all others, and until the worker has made the new
    board."""
    ids = [decision.get(name) for name in ("snapshot_before", "snapshot_after")]
    board_versions = [await cache.at(str(snapshot_id)) for snapshot_id in ids if snapshot_id]
    before, after = board_versions if len(board_versions) == 2 else (None, None)
    if before is None or after is None:
        return None
    return await after.executor.take(partial(_between, before), after)


def _between(before: BoardVersion, after: BoardVersion) -> RankChanges:
    return rank_changes(before.board(), after.board())


def _page(
    board_version: BoardVersion,
    decisions: Sequence[PublicDecision],
    *,
    alone: PublicDecision | None = None,
    **more: Any,
) -> str:
    """Return the page of a part of the log, or of one decision ``alone``."""
    values = {"decisions": decisions, "names": _names(board_version, decisions), "digits": DIGITS, **more}
    return render(board_version.context, "decisions.html", current="", alone=alone, **values)


def _names(board_version: BoardVersion, decisions: Sequence[PublicDecision]) -> dict[str, str]:
    """Map the entries and reported results that decisions concern to their names, where they have one."""
    wanted = {decision[key] for decision in decisions for key in ("entry", "result") if decision.get(key)}
    there = [*board_version.snapshot["entries"], *board_version.snapshot.get("stubs", ())] if wanted else []
    results = {result.id: result.name for result in board_version.published if result.id in wanted}
    return results | {entry["id"]: display_name(entry) for entry in there if entry["id"] in wanted and "model" in entry}
