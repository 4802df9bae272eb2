"""Application factory: every route, error handler, background task and middleware of the web process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

import auth.pages
import leaderboard.board.api
import leaderboard.board.pages
import leaderboard.judges.pages
import maintenance.api
import maintenance.pages
import operation.metrics
import receipts.api
import review.pages
import submissions.api
import submissions.notifications.pages
import submissions.own_votes
import submissions.pages
import web.pages
from auth import Identity
from auth.limits.rate_limit import RateLimitMiddleware, account_of, address_of
from auth.middleware import IdentityMiddleware, from_here
from auth.settings import Mode
from leaderboard.board.pages import BoardFastPathMiddleware
from leaderboard.site.cache import BoardCache
from leaderboard.site.pages import not_found_page
from leaderboard.site.render import assets
from maintenance.decision_log import PublicLog
from maintenance.pages import MaintainPage
from operation.metrics import RequestMetricsMiddleware
from web.actions import ACTIONS
from web.background import lifespan
from web.benchmarks import (
    BenchmarkDispatch,
    BenchmarkMiddleware,
    SubmissionBenchmarkMiddleware,
    benchmark_of_submission,
)
from web.errors import add_exception_handlers
from web.middleware.gradio_allowlist import GradioAllowlistMiddleware
from web.middleware.languages import LanguageMiddleware
from web.middleware.problems import ProblemsMiddleware
from web.middleware.request_limits import LeftClientsMiddleware, RequestLimitsMiddleware
from web.middleware.security_headers import SecurityHeadersMiddleware
from web.services import BenchmarkServices, Services


def create_app(services: Services, *, on_misconfigured: Callable[[], None]) -> ASGIApp:
    """Return the web application: the board, the routes behind the middleware, and Gradio below /app as soon as it is
    imported.

    `on_misconfigured`: called when the worker cannot use its settings.
    """
    settings = services.settings
    gradio = GradioAllowlistMiddleware(settings.gradio_dir, settings.identity.public_url)
    app = FastAPI(
        title=f"{settings.spec.brand} leaderboard",
        lifespan=lifespan(services, gradio=gradio, on_misconfigured=on_misconfigured),
        docs_url=None,  # /docs is our own page: FastAPI's loads its script from another host
        redoc_url=None,
        redirect_slashes=False,  # BenchmarkMiddleware leads to the address without one, and names no host
    )
    wrapped = _all_benchmarks(app, services, gradio=gradio)
    for layer in reversed(_middleware(services)):  # FastAPI's own error handling stays inside of it
        wrapped = layer.cls(wrapped, *layer.args, **layer.kwargs)
    return wrapped


def _middleware(services: Services) -> list[Middleware]:
    """Return the middleware, the outermost first. Rates are limited where the service is public."""
    settings = services.settings
    identity, largest = settings.identity, settings.upload_limit_bytes
    local, openid = identity.mode is Mode.LOCAL, identity.mode is Mode.OPENID
    rate = 0 if local else settings.requests_per_minute
    ids = [benchmark.id for benchmark in services.benchmarks]
    stack = [
        Middleware(SecurityHeadersMiddleware, settings.frame_ancestors, https=identity.https),
        Middleware(LanguageMiddleware, identity.https),
        Middleware(
            BoardFastPathMiddleware,
            services.first.board,
            may=from_here if local else lambda _: True,
            others=[benchmark.board for benchmark in services.benchmarks[1:]],
        ),
        # From here on, inside of the fast path, nothing costs the board anything.
        Middleware(ProblemsMiddleware, [benchmark.context for benchmark in services.benchmarks]),
        Middleware(BenchmarkMiddleware, ids),
        Middleware(RequestMetricsMiddleware, services.registry),
        Middleware(RequestLimitsMiddleware, largest, free=lambda: shutil.disk_usage(settings.state_dir).free),
        Middleware(LeftClientsMiddleware),
        Middleware(RateLimitMiddleware, rate, whose=address_of, largest=largest) if rate else None,
        # From here on a request may ask the database.
        Middleware(
            SubmissionBenchmarkMiddleware, ids, benchmark_of=partial(benchmark_of_submission, services.database)
        ),
        Middleware(IdentityMiddleware, services.auth.settings, resolver=services.auth.resolver),
        Middleware(RateLimitMiddleware, rate, whose=account_of) if rate and openid else None,
    ]
    return [layer for layer in stack if layer is not None]


def _all_benchmarks(app: FastAPI, services: Services, *, gradio: ASGIApp) -> ASGIApp:
    """Return the applications of all benchmarks; `app` becomes that of the first."""
    _add_benchmark(app, services, of=services.first)
    boards = [benchmark.board for benchmark in services.benchmarks]
    app.include_router(
        leaderboard.judges.pages.build(boards, [benchmark.items.relations for benchmark in services.benchmarks])
    )
    token = services.settings.metrics_token.get_secret_value()
    app.include_router(operation.metrics.build(services.registry, token))
    app.include_router(web.pages.build(services))
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    app.mount("/app", gradio)
    add_exception_handlers(app, services, of=services.first)
    others = {benchmark.id: _benchmark_app(app, services, of=benchmark) for benchmark in services.benchmarks[1:]}
    return BenchmarkDispatch(app, others)


def _benchmark_app(main: FastAPI, services: Services, *, of: BenchmarkServices) -> FastAPI:
    """Return the application of another benchmark than the first. What the API has once is answered by `main`."""
    app = FastAPI(title=f"{of.served.spec.brand} leaderboard", docs_url=None, redoc_url=None, redirect_slashes=False)
    _add_benchmark(app, services, of=of)
    add_exception_handlers(app, services, of=of)
    missing = app.router.default

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        await (main if scope["path"].startswith("/api/") else missing)(scope, receive, send)

    app.router.default = default
    return app


def _add_benchmark(app: FastAPI, services: Services, *, of: BenchmarkServices) -> None:
    """Add what each benchmark has: board, pages, API, submitting, accounts, maintenance, review."""
    _add_board(app, services, of=of)
    _add_submissions(app, services, of=of)
    _add_accounts(app, services, of=of)
    app.include_router(maintenance.api.build(ACTIONS, of.actions))
    app.include_router(maintenance.pages.build(MaintainPage(ACTIONS, of.actions, of.account_pages)))
    not_found = partial(not_found_page, of.context)
    app.include_router(review.pages.build(of.actions, of.account_pages, not_found=not_found))


def _add_board(app: FastAPI, services: Services, *, of: BenchmarkServices) -> None:
    events, several = ACTIONS.public_events(), len(services.benchmarks) > 1
    log = PublicLog(services.database, events, benchmark=of.id if several else "")
    log_of_all = PublicLog(services.database, events)
    elsewhere = partial(_entry_elsewhere, [benchmark.board for benchmark in services.benchmarks if benchmark is not of])
    app.include_router(
        leaderboard.board.pages.build(of.board, of.items, log=log, elsewhere=elsewhere, log_of_all=log_of_all)
    )
    app.include_router(leaderboard.board.api.build(of.board, of.items))


def _entry_elsewhere(boards: Sequence[BoardCache], entry_id: str) -> str | None:
    """Return the address of an entry of another benchmark; None where none of their boards has it."""
    for board in boards:
        board_version = board.peek() or board.refresh()
        if board_version.has_entry(entry_id):
            return f"{board_version.context.prefix}/entries/{entry_id}"
    return None


def _add_submissions(app: FastAPI, services: Services, *, of: BenchmarkServices) -> None:
    database, track = services.database, of.submission_status
    app.include_router(
        submissions.api.build(of.submissions, services.spool, track=track, database=database, rules=of.activity)
    )
    app.include_router(submissions.own_votes.build(database, lambda: of.items.table))
    pages, measures = of.account_pages, of.served.spec.headline_first
    app.include_router(
        submissions.pages.build(of.actions, of.submissions, pages=pages, receipts=of.receipts, measures=measures)
    )
    app.include_router(receipts.api.build(of.receipts))


def _add_accounts(app: FastAPI, services: Services, *, of: BenchmarkServices) -> None:
    """Add the pages of accounts, in the layout of a benchmark: accounts are those of the service."""
    boards = [benchmark.activity for benchmark in services.benchmarks]
    email, routes = None if services.email is None else services.email.subscriptions, submissions.notifications.pages

    def sections(user: Identity) -> Mapping[str, Any]:
        told = submissions.pages.submission_sections(services.database, boards, intake=of.submissions, user=user)
        return {**told, "notifications": routes.account_sections(email, user)}

    app.include_router(auth.pages.build(services.auth, of.account_pages, sections=sections))
    if email is not None:
        app.include_router(routes.build(of.account_pages, email))


async def _icon() -> Response:
    """Browsers ask for it under this name, whatever a page says."""
    return RedirectResponse(assets()["icon.svg"].url)
