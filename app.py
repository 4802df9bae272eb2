"""Entry point `python app.py`: prepare the demo on first start, run the web application and start the worker
process."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

import auth.routes
import leaderboard.api
import leaderboard.routes
import maintenance.actions.entries
import maintenance.api
import receipts.api as receipts_api
import review.api
import review.pages
import review.routes
import submissions.api
import submissions.pages
from auth import AuthError
from auth.middleware import IdentityMiddleware, from_here
from auth.pages import AccountPages
from auth.rate_limit import RateLimitMiddleware, account_of, address_of
from auth.service import AuthService
from auth.settings import Mode
from common.logging_setup import log_to_stderr
from leaderboard.board.reported_results import bundled_results
from leaderboard.cache import BoardCache
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.pages.status_pages import not_found_page
from leaderboard.queries import DatabaseSnapshots
from leaderboard.render import assets, environment
from leaderboard.routes import BoardFastPathMiddleware
from leaderboard.serial_executor import QueueFull
from maintenance.decision_log import PublicLog
from predictions.spool import Spool
from receipts.service import ReceiptService
from receipts.signing import Signer
from review.routes import Forms
from settings import Settings, SettingsError
from storage.database import Database, DatabaseUnusable, open_migrated
from storage.models.core import UnfitText
from submissions.account_page import activity_lines, next_submission_line, submission_rows
from submissions.metadata import parse_columns
from submissions.service import SubmissionService
from submissions.status import get_status
from web.background import run_background_tasks, run_gradio, submit_demo_judges
from web.errors import http_problem, parameter_problem, unfit_text
from web.gradio_app import build_gradio_app, maintenance_context
from web.middleware.gradio_allowlist import GradioAllowlistMiddleware
from web.middleware.header_timeout import HeaderTimeoutProtocol
from web.middleware.request_limits import Application, RequestLimitsMiddleware
from web.middleware.security_headers import SecurityHeadersMiddleware
from web.owner_actions import owner_actions
from web.server import open_listener, url_of
from web.services import submission_service
from web.startup import QUIET, child_environment, load_signer, prepare_demo, prepare_directory
from workers.supervisor import Supervisor

log = logging.getLogger("app")

_DEMO_NOTE = "  (demo benchmark; LABELS serves the real one, see README.md)"


def main() -> int:
    """Run until told to stop. Returns the exit code."""
    log_to_stderr()
    os.environ.update(QUIET)
    os.umask(0o077)  # hidden tallies and accounts are in files, and DATA_DIR may be a directory that others can read
    try:
        settings = Settings.from_env(os.environ)
        listener = open_listener(settings)
        prepare_directory(settings)
        os.environ["GRADIO_TEMP_DIR"] = str(settings.gradio_dir)  # before Gradio is imported
        if settings.is_demo:
            prepare_demo(settings)
        database = open_migrated(settings.database_url)
        signer = load_signer(settings, database)
    except (SettingsError, DatabaseUnusable, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    configured = True
    with suppress(KeyboardInterrupt):
        configured = asyncio.run(_serve(settings, database, signer, listener))
    database.close()
    if not configured:
        print("Stopped, because the worker cannot use its settings; its message above names the one.", file=sys.stderr)
    return 0 if configured else 2


async def _serve(settings: Settings, database: Database, signer: Signer, listener: socket.socket) -> bool:
    """Until told to stop (True), or until the worker turns out to be configured wrongly (False)."""
    spool = Spool(settings.spool_dir, settings.upload_limit_bytes)
    configured = True

    def on_misconfigured() -> None:
        nonlocal configured
        configured, server.should_exit = False, True

    intake = submission_service(settings, database, signer)
    receipts = ReceiptService(database, settings.benchmark, signer, settings.hidden_labels)
    config = uvicorn.Config(
        build_app(settings, database, intake, spool, receipts, on_misconfigured),
        log_config=None,  # what uvicorn says goes where everything goes
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        lifespan="on",
        http=HeaderTimeoutProtocol,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    server = uvicorn.Server(config)
    print(f"VL-RewardBench leaderboard: {url_of(listener)}{_DEMO_NOTE if settings.is_demo else ''}", flush=True)
    await server.serve(sockets=[listener])
    return configured


def build_app(
    settings: Settings,
    database: Database,
    intake: SubmissionService,
    spool: Spool,
    receipts: ReceiptService,
    on_misconfigured: Callable[[], None],
) -> SecurityHeadersMiddleware:
    """Return the web application: the board, own routes behind the request limits, Gradio below /app as soon as it is
    imported.

    `give_up`: called when the worker cannot use its settings.
    """
    snapshots = DatabaseSnapshots(database, hidden_labels=settings.hidden_labels)
    public_url = settings.identity.public_url
    site = BoardCache(snapshots, benchmark=settings.benchmark, public_url=public_url, warm=leaderboard.routes.prerender)
    track = partial(get_status, database, settings.benchmark, hidden=settings.hidden_labels)
    gradio = GradioAllowlistMiddleware(
        settings.gradio_dir, settings.identity.public_url, bool(settings.trusted_proxies)
    )
    identities, pages = (
        AuthService.create(database, settings.identity),
        AccountPages(environment(), [submissions.pages.TEMPLATES]),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(site.refresh)  # so that the first visitor does not wait for the board to be made
        stop = asyncio.Event()
        worker = Supervisor([sys.executable, "-m", "workers"], child_environment(), on_misconfigured)
        context = partial(maintenance_context, settings, database, identities, materials)
        lay_out = partial(build_gradio_app, settings, intake, track, site, materials, context)
        tasks = [worker.run(stop), run_gradio(lay_out, gradio, stop)]
        if settings.is_demo:
            tasks.append(asyncio.to_thread(submit_demo_judges, settings.demo_dir, intake))
        async with run_background_tasks(tasks, stop):
            yield

    # /docs is our own page: FastAPI's loads its script from another host.
    app = FastAPI(title="VL-RewardBench leaderboard", lifespan=lifespan, docs_url=None, redoc_url=None)
    materials = ItemCatalog(settings.manifest_path, settings.item_texts_path, snapshots.relations)
    app.include_router(leaderboard.routes.build(site, materials, PublicLog(database)))
    app.include_router(leaderboard.api.build(site, materials))
    app.include_router(submissions.api.build(intake, spool, track, database, settings.hidden_labels))
    owner = owner_actions(database, receipts)
    app.include_router(submissions.pages.build(database, intake, identities, pages, owner))
    app.include_router(receipts_api.build(receipts))
    _add_maintenance(app, settings, database, identities, materials)
    own = partial(submission_rows, database, settings.benchmark)
    happened = partial(activity_lines, database, settings.benchmark, settings.hidden_labels)
    app.include_router(auth.routes.build(identities, pages, own, partial(next_submission_line, intake), happened))
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    app.mount("/app", gradio)
    app.add_exception_handler(404, leaderboard.routes.not_found)
    app.add_exception_handler(Exception, leaderboard.routes.failed)
    app.add_exception_handler(QueueFull, leaderboard.routes.busy)
    app.add_exception_handler(HTTPException, http_problem)
    app.add_exception_handler(RequestValidationError, parameter_problem)
    app.add_exception_handler(UnfitText, unfit_text)
    app.add_exception_handler(AuthError, auth.routes.refusals(identities, pages))
    known = with_identity_and_limits(app, settings, identities)
    limits = RequestLimitsMiddleware(
        known, settings.upload_limit_bytes, own=settings.identity.public_url, free=partial(_free, settings.state_dir)
    )
    local = settings.identity.mode is Mode.LOCAL
    environment().globals["local_mode"] = local  # a line on every page
    board_first = BoardFastPathMiddleware(limits, site, from_here if local else lambda _: True)
    return SecurityHeadersMiddleware(board_first, settings.frame_ancestors, settings.identity.https)


def _free(folder: Path) -> int:
    """Return bytes that can still be written there."""
    return shutil.disk_usage(folder).free


def _add_maintenance(
    app: FastAPI, settings: Settings, database: Database, identities: AuthService, materials: ItemCatalog
) -> None:
    """What maintainers do, disputes, and verification by hand."""
    app.include_router(
        maintenance.api.build(
            database,
            settings.benchmark,
            parse_columns,
            paths=(settings.state_dir,),
            shipped=bundled_results,
            site_url=settings.identity.public_url or "",
            note_refusal=identities.record_denial,
            identity=settings.identity,
        )
    )
    app.include_router(review.api.build(database, materials, identities.record_denial))
    forms = Forms(
        lambda user: auth.routes.csrf_token(identities, user) if user.auth_method == "session" else "",
        lambda user, sent: auth.routes.check_csrf(identities, user, sent) if user.auth_method == "session" else None,
    )
    app.include_router(
        review.routes.build(database, materials, review.pages.ReviewPages(environment()), forms, not_found_page)
    )


def with_identity_and_limits(app: FastAPI, settings: Settings, identities: AuthService) -> Application:
    """Return the application behind authentication, and rate limits where it is public."""
    rate = settings.requests_per_minute if settings.identity.mode is not Mode.LOCAL else 0
    inner = RateLimitMiddleware(app, rate, account_of) if rate and settings.identity.mode is Mode.OPENID else app
    known = IdentityMiddleware(inner, identities.settings, identities.resolver)
    return RateLimitMiddleware(known, rate, address_of, largest=settings.upload_limit_bytes) if rate else known


async def _icon() -> Response:
    """Browsers ask for it under this name, whatever a page says."""
    return RedirectResponse(assets()["icon.svg"].url)


if __name__ == "__main__":
    sys.exit(main())
