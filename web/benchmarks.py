"""Routing of requests to benchmarks: addresses below ``/b/<id>``, the parameter ``benchmark``, ids of submissions.

Inside of ``BenchmarkMiddleware`` an address has no prefix, so that limits, rates and roles hold for every benchmark
alike; ``scope["benchmark"]`` names the benchmark, and ``BenchmarkDispatch`` picks its application. What the database
must be asked for comes after the limits: ``SubmissionBenchmarkMiddleware``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from auth.problem_details import problem
from leaderboard.site.render_context import PREFIX
from storage.database import UNAVAILABLE, Database, is_unavailable
from submissions import queries

_FOR_PROGRAMS = ("/api/", "/export/")
_FILES = frozenset({"/check-numbers", "/feed.xml", "/og.png", "/maintain"})
_HOME = re.compile("/(?:b/[^/]+/)?")
_FORMER_PAGE = re.compile("/app((?:/(?:analyse|compare|maintain))?)/?")  # they were Gradio pages once
_BY_SUBMISSION = re.compile(r"/(?:api/v1|account)/(?:submissions|entries)/([0-9A-Za-z]{1,40})(?:/|$)")


class BenchmarkMiddleware:
    """ASGI: says which benchmark a request is about, and takes the prefix off its address.

    ``ids``: those that are served, the first one first.
    """

    def __init__(self, app: ASGIApp, ids: Sequence[str]) -> None:
        self._app, self._ids = app, tuple(ids)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        found = self._look(scope) if scope["type"] == "http" else {}
        if isinstance(found, Response):
            await found(scope, receive, send)
        else:
            await self._app({**scope, **found}, receive, send)

    def _look(self, scope: Scope) -> Response | Scope:
        """Return what changes in the scope of a request about another benchmark than the first, or an answer."""
        path: str = scope["path"]
        if former := _FORMER_PAGE.fullmatch(path):
            return RedirectResponse(_with_query(former[1] or "/", scope), 308)
        if path.endswith("/") and not _HOME.fullmatch(path):
            return RedirectResponse(_with_query("/" + path.strip("/"), scope), 308)  # "//x" would be another host
        if path.startswith(PREFIX):
            benchmark, slash, rest = path.removeprefix(PREFIX).partition("/")
            return self._below_prefix(scope, benchmark, slash=slash, rest=rest)
        wanted = _benchmark_parameter(scope, path)
        if wanted and wanted not in self._ids:
            return self._unknown(wanted, self._ids)
        return _inside(wanted, path) if wanted in self._ids[1:] else {}

    def _below_prefix(self, scope: Scope, benchmark: str, *, slash: str, rest: str) -> Response | Scope:
        if benchmark not in self._ids:
            return {}
        if _benchmark_parameter(scope, f"/{rest}") not in ("", benchmark):
            return self._unknown(_benchmark_parameter(scope, f"/{rest}"), (benchmark,))
        if benchmark == self._ids[0]:
            return RedirectResponse(_with_query("/" + rest.lstrip("/"), scope), 308)  # "//x" would be another host
        if not slash:
            return RedirectResponse(_with_query(f"{PREFIX}{benchmark}/", scope), 308)
        return _inside(benchmark, f"/{rest}")

    def _unknown(self, wanted: str, known: Sequence[str]) -> Response:
        what = f"one of {', '.join(known)}" if len(known) > 1 else f"{known[0]} at this address"
        detail = f"benchmark is {what}, not {wanted[:60]!r}."
        return problem(400, "unknown-benchmark", detail=detail, parameter="benchmark", known=list(known))


class SubmissionBenchmarkMiddleware:
    """ASGI: a submission is in one benchmark, whatever else its address asks; inside of the limit of an address.

    ``ids`` as above. ``benchmark_of`` is asked about addresses that name a submission; it blocks, and runs in a thread.
    """

    def __init__(self, app: ASGIApp, ids: Sequence[str], *, benchmark_of: Callable[[str], str | None]) -> None:
        self._app, self._several, self._benchmark_of = app, len(ids) > 1, benchmark_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        named = _BY_SUBMISSION.match(scope["path"]) if self._several and scope["type"] == "http" else None
        benchmark = None if named is None else await asyncio.to_thread(self._benchmark_of, named[1])
        await self._app({**scope, "benchmark": benchmark} if benchmark else scope, receive, send)


def requested_benchmark(request: Request, ids: Sequence[str]) -> str:
    """Return the benchmark that a Gradio page is about: of the call's query, else of the page's; "" is the first."""
    pages = (request.query_params, dict(parse_qsl(urlsplit(request.headers.get("referer", "")).query)))
    return next((result for page in pages if (result := page.get("benchmark", "")) in ids), "")


class BenchmarkDispatch:
    """ASGI: the application of the benchmark that a request is about; ``app`` is that of the first."""

    def __init__(self, app: ASGIApp, others: Mapping[str, ASGIApp]) -> None:
        self._app, self._others = app, dict(others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        await self._others.get(scope.get("benchmark", ""), self._app)(scope, receive, send)


def benchmark_of_submission(database: Database, submission: str) -> str | None:
    """Return the benchmark of a submission; None where there is no such one, or no database."""
    try:
        with database.read() as session:
            return queries.benchmark_of(session, submission)
    except UNAVAILABLE as error:
        if not is_unavailable(error):
            raise
        return None  # what asks the database next says so


def _inside(benchmark: str, path: str) -> Scope:
    return {"benchmark": benchmark, "path": path, "raw_path": quote(path).encode("ascii")}


def _benchmark_parameter(scope: Scope, path: str) -> str:
    """Return the value of the parameter ``benchmark``, where an address has it: files, API, maintain page."""
    query = scope.get("query_string", b"")
    takes = path.startswith(_FOR_PROGRAMS) or path in _FILES
    return dict(parse_qsl(query.decode("latin-1"))).get("benchmark", "") if takes and b"benchmark=" in query else ""


def _with_query(path: str, scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return quote(path) + (f"?{query}" if query else "")
