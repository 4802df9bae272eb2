"""Application factory: every route, error handler, background task and middleware of the web process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

import auth.routes
import leaderboard.api
import leaderboard.routes
import maintenance.api
import operation.api
import receipts.api
import review.routes
import submissions.api
import submissions.pages
import web.status_page
from leaderboard.pages.status_pages import not_found_page
from leaderboard.render import assets, environment
from maintenance.decision_log import PublicLog
from operation.alarms import service_alarms
from operation.metrics import render
from operation.public_status import PublicStatus
from review.pages import ReviewPages
from settings import Settings
from submissions.account_page import activity_lines, next_submission_line, submission_rows
from submissions.activity import ActivityRules
from web.actions import ACTIONS
from web.background import lifespan
from web.errors import add_exception_handlers
from web.middleware.gradio_allowlist import GradioAllowlistMiddleware
from web.middleware_stack import middleware, wrap
from web.owner_actions import owner_actions
from web.services import Services, action_context


def create_app(settings: Settings, services: Services, on_misconfigured: Callable[[], None]) -> ASGIApp:
    """Return the web application: the board, the routes behind the middleware, and Gradio below /app as soon as it is
    imported.

    `on_misconfigured`: called when the worker cannot use its settings.
    """
    gradio = GradioAllowlistMiddleware(
        settings.gradio_dir, settings.identity.public_url, bool(settings.trusted_proxies)
    )
    app = FastAPI(
        title=f"{settings.spec.brand} leaderboard",
        lifespan=lifespan(settings, services, gradio, on_misconfigured),
        docs_url=None,  # /docs is our own page: FastAPI's loads its script from another host
        redoc_url=None,
    )
    rules = ActivityRules(settings.spec, ACTIONS.owner_sentences(), settings.hidden_labels)
    _add_board(app, services)
    _add_submissions(app, settings, services, rules)
    _add_maintenance(app, settings, services)
    _add_review(app, settings, services)
    _add_accounts(app, settings, services, rules)
    _add_operation(app, settings, services)
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    app.mount("/app", gradio)
    add_exception_handlers(app, services)
    return wrap(app, middleware(settings, services))


def _add_board(app: FastAPI, services: Services) -> None:
    decisions = PublicLog(services.database, ACTIONS.public_events())
    app.include_router(leaderboard.routes.build(services.board, services.items, decisions))
    app.include_router(leaderboard.api.build(services.board, services.items))


def _add_submissions(app: FastAPI, settings: Settings, services: Services, rules: ActivityRules) -> None:
    use_cases, database = services.submissions, services.database
    alarms = partial(service_alarms, paths=(settings.state_dir,), replica=services.replica)
    app.include_router(
        submissions.api.build(use_cases, services.spool, services.submission_status, database, rules, alarms)
    )
    owner = owner_actions(action_context(settings, services), services.receipts, settings.spec)
    app.include_router(submissions.pages.build(database, use_cases, services.auth, services.account_pages, owner))
    app.include_router(receipts.api.build(services.receipts))


def _add_operation(app: FastAPI, settings: Settings, services: Services) -> None:
    """Add what operators read."""
    token = settings.metrics_token.get_secret_value()
    app.include_router(operation.api.build(partial(render, services.registry), token))
    app.include_router(web.status_page.build(services.board.context, PublicStatus(services.database, services.replica)))


def _add_maintenance(app: FastAPI, settings: Settings, services: Services) -> None:
    app.include_router(
        maintenance.api.build(
            ACTIONS,
            action_context(settings, services),
            site_url=settings.identity.public_url or "",
            note_refusal=services.auth.record_denial,
        )
    )


def _add_review(app: FastAPI, settings: Settings, services: Services) -> None:
    """Add disputes and verification by hand."""
    identities, context = services.auth, action_context(settings, services)
    site = services.board.context
    pages = ReviewPages(environment(site))
    forms = review.routes.Forms(
        lambda user: auth.routes.csrf_token(identities, user) if user.auth_method == "session" else "",
        lambda user, sent: auth.routes.check_csrf(identities, user, sent) if user.auth_method == "session" else None,
    )
    app.include_router(review.routes.build(context, pages, forms, partial(not_found_page, site)))


def _add_accounts(app: FastAPI, settings: Settings, services: Services, rules: ActivityRules) -> None:
    database, benchmark = services.database, settings.benchmark
    app.include_router(
        auth.routes.build(
            services.auth,
            services.account_pages,
            submissions_of=partial(submission_rows, database, benchmark),
            next_one=partial(next_submission_line, services.submissions),
            activity=partial(activity_lines, database, rules),
        )
    )


async def _icon() -> Response:
    """Browsers ask for it under this name, whatever a page says."""
    return RedirectResponse(assets()["icon.svg"].url)
