"""Requests and responses of the public pages and their JSON: requested version, encodings, ETags, 304, security
headers, problem details."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import orjson
from fastapi import Query
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import Response

from auth.problem_details import problem
from leaderboard.ranking.parameters import read_as_of
from leaderboard.site.cache import SNAPSHOT_DIGITS, BoardCache, BoardVersion, CachedResponse
from vlrb.common.messages import _

HTML = "text/html; charset=utf-8"
JSON = "application/json"
REVALIDATE = "public, no-cache"
OF_A_LANGUAGE = "Accept-Encoding, Accept-Language, Cookie"
FOREVER = "public, max-age=31536000, immutable"
_POLICY = "Content-Security-Policy"
SECURITY: Mapping[str, str] = {
    _POLICY: (
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": (
        "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), "
        "microphone=(), midi=(), payment=(), usb=()"
    ),
}
_SCRIPTS_AND_STYLES = ("text/css", "text/javascript", "application/javascript")
_NOSNIFF = {name: value for name, value in SECURITY.items() if name == "X-Content-Type-Options"}
EMBEDDABLE = SECURITY[_POLICY].partition("frame-ancestors")[0] + "frame-ancestors *"
"""The policy of pages made for other sites' frames. They show what is public and change nothing."""
DRAWING = {
    _POLICY: SECURITY[_POLICY]
    .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    .replace("img-src 'self'", "img-src 'self' data: blob:")
}
"""The policy of pages with a figure: Plotly sets styles as it draws, and makes a picture from a drawing."""
AsOf = Annotated[
    str | None,
    Query(description="An old board: a day, an ISO instant (UTC unless it says otherwise) or a snapshot's id"),
]


async def requested_version(cache: BoardCache, request: Request) -> BoardVersion | None:
    """Return the board version of ``as_of``, or the current one; None without one, or where that means nothing."""
    try:
        return await cache.at(read_as_of(request.query_params))
    except ValueError:
        return None


def query_of(request: Request, board_version: BoardVersion) -> QueryParams:
    """Return the query of a request about a board; an old board by its snapshot's id, so that a page is made once."""
    asked, snapshot = request.query_params, board_version.snapshot_id[:SNAPSHOT_DIGITS]
    if not asked.get("as_of"):
        return asked
    return QueryParams([(name, snapshot if name == "as_of" else value) for name, value in asked.multi_items()])


async def version_or_problem(cache: BoardCache, request: Request, *, snapshot: str = "") -> BoardVersion | Response:
    """Return the board that a request is about, or a problem response. `snapshot`: the one that a cursor names."""
    when = snapshot or read_as_of(request.query_params)
    try:
        result = await cache.at(when)
    except ValueError:
        detail = _("as_of is a day, an ISO instant, or at least twelve digits of a snapshot's id.")
        return problem(400, "invalid-as-of", detail=detail, parameter="as_of")
    return result or problem(404, "no-board", detail=_("There was no board as of {when}.", when=when))


def refuse_unknown(name: str, value: str, *, known: Collection[str]) -> Response | None:
    """Return a problem response for a parameter with a value that is none of ``known``; None for one of them."""
    if value in known:
        return None
    names, seen = ", ".join(known), value[:60]
    detail = _("{name} is one of {known}, not {value!r}.", name=name, known=names, value=seen)
    detail = detail if known else _("There is no {name} yet.", name=name)
    return problem(400, f"unknown-{name}", detail=detail, parameter=name, known=list(known))


def json_body(value: Any) -> CachedResponse:
    """Return a value as JSON, compressed quickly: it is made for one request, or kept for few."""
    return CachedResponse.of(orjson.dumps(value), JSON, quick=True)


def respond(
    body: CachedResponse,
    headers: Headers,
    *,
    status: int = 200,
    cache_control: str = REVALIDATE,
    drawing: bool = False,
) -> Response:
    """Return the body in the encoding that the client takes, or 304 if it has it already. ``drawing``: whether it is a
    page with a figure."""
    coding = body.choose(headers.get("accept-encoding", ""))
    head = response_headers(body, coding, cache_control=cache_control) | (DRAWING if drawing else {})
    if status == 200 and etag_matches(headers.get("if-none-match", ""), body.etags[coding]):
        return Response(status_code=304, headers=head)
    return Response(body.encodings[coding], status, head, media_type=body.media_type)


def response_headers(body: CachedResponse, coding: str, *, cache_control: str) -> dict[str, str]:
    """Return the header fields of a body in one encoding."""
    vary = OF_A_LANGUAGE if body.media_type == HTML else "Accept-Encoding"
    security = dict(security_headers(body.media_type))
    if body.style:
        security[_POLICY] = security[_POLICY].replace("style-src 'self'", f"style-src 'self' {body.style}")
    head = {**security, "ETag": body.etags[coding], "Cache-Control": cache_control, "Vary": vary}
    return head if coding == "identity" else {**head, "Content-Encoding": coding}


def security_headers(media_type: str) -> Mapping[str, str]:
    """Return what a response says about security: scripts and style sheets follow the policies of the page that loads
    them, and need none of their own."""
    return _NOSNIFF if media_type.startswith(_SCRIPTS_AND_STYLES) else SECURITY


def etag_matches(if_none_match: str, etag: str) -> bool:
    """RFC 9110, 13.1.2: weak comparison against any of the list."""
    asked = (part.strip().removeprefix("W/") for part in if_none_match.split(","))
    return any(tag in ("*", etag) for tag in asked)


def no_entry(board_version: BoardVersion, entry_id: str) -> Response:
    """Return the reply to a program that asks for an entry that is not there.

    It is 410 where it was withdrawn (or a removed reported result), else 404.
    """
    left = board_version.removed_entry(entry_id)
    if left is None:
        return problem(404, "unknown-entry", detail=_("There is no entry with this id."))
    facts = {"at": left["at"], "reason": left["reason"]}
    day, reason = left["at"][:10], left["reason"]
    if left.get("reported"):
        removed = _("This reported result was removed on {day}: {reason}", day=day, reason=reason)
        return problem(410, "removed", detail=removed, **facts)
    withdrawn = _("This entry was withdrawn on {day}: {reason}", day=day, reason=reason)
    return problem(410, "withdrawn", detail=withdrawn, **facts)
