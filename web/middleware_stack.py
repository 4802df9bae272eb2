"""Middleware of the application as one ordered list."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence

from anyio import CancelScope
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.csrf import SAFE_METHODS
from auth.limits.rate_limit import RateLimitMiddleware, account_of, address_of
from auth.middleware import IdentityMiddleware, from_here
from auth.settings import Mode
from leaderboard.board.pages import BoardFastPathMiddleware
from leaderboard.site.serial_executor import CLIENT
from operation.request_metrics import RequestMetricsMiddleware
from web.benchmarks import BenchmarkMiddleware, SubmissionBenchmarkMiddleware, benchmark_of_submission
from web.middleware.languages import LanguageMiddleware
from web.middleware.problems import ProblemsMiddleware
from web.middleware.request_limits import RequestLimitsMiddleware
from web.middleware.security_headers import SecurityHeadersMiddleware
from web.services import Services


def middleware(services: Services) -> list[Middleware]:
    """Return the middleware, the outermost first. Rates are limited where the service is public."""
    settings = services.settings
    identity, largest = settings.identity, settings.upload_limit_bytes
    local, openid = identity.mode is Mode.LOCAL, identity.mode is Mode.OPENID
    rate = 0 if local else settings.requests_per_minute
    ids = [benchmark.id for benchmark in services.benchmarks]
    look_up = benchmark_of_submission(services.database)
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
        Middleware(SubmissionBenchmarkMiddleware, ids, benchmark_of=look_up),
        Middleware(IdentityMiddleware, services.auth.settings, resolver=services.auth.resolver),
        Middleware(RateLimitMiddleware, rate, whose=account_of) if rate and openid else None,
    ]
    return [layer for layer in stack if layer is not None]


def wrap(app: ASGIApp, stack: Sequence[Middleware]) -> ASGIApp:
    """Return an application behind a stack of middleware. FastAPI's own error handling stays inside of it."""
    for layer in reversed(stack):
        app = layer.cls(app, *layer.args, **layer.kwargs)
    return app


class LeftClientsMiddleware:
    """The application, where reading requests end when their client leaves before it is answered, and the queues of
    renders know whose request it is. Gradio's own routes look for themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        CLIENT.set(address_of(scope))
        if scope["type"] != "http" or scope["method"] not in SAFE_METHODS or scope["path"].startswith("/app"):
            await self._app(scope, receive, send)
            return
        with CancelScope() as work:
            watching = asyncio.create_task(_cancel_if_left(receive, work))

            async def sending(message: Message) -> None:
                watching.cancel()  # a server reports the end of a response as a disconnect too
                await send(message)

            try:
                await self._app(scope, receive, sending)
            finally:
                watching.cancel()


async def _cancel_if_left(receive: Receive, work: CancelScope) -> None:
    message = await receive()
    while message["type"] == "http.request" and not message.get("more_body"):
        message = await receive()
    if message["type"] == "http.disconnect":
        work.cancel()
