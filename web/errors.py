"""Exception handlers of the application."""

from __future__ import annotations

import logging
from functools import partial

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

import auth.pages
from auth import AuthError
from auth.problem_details import problem, problem_body, problem_response, refused_response
from common.refused import Refused
from leaderboard.site.pages import error_reply
from leaderboard.site.render_context import RenderContext
from leaderboard.site.serial_executor import QueueFull
from storage.database import UNAVAILABLE, is_unavailable
from storage.database_wait import log_away
from vlrb.common.messages import _
from vlrb.common.text import join_sentences
from web.services import BenchmarkServices, Services

log = logging.getLogger(__name__)
_MOST_ERRORS = 20  # that are listed of one request
_CODES = {400: "bad-request", 405: "method-not-allowed", 413: "too-large", 422: "invalid-parameter"}


def add_exception_handlers(app: FastAPI, services: Services, *, of: BenchmarkServices) -> None:
    """Answer every error with problem+json, or with a page where a browser asked for one."""
    app.add_exception_handler(404, partial(error_reply, of.context, "not-found"))
    app.add_exception_handler(Exception, partial(error_reply, of.context, "failed"))
    app.add_exception_handler(QueueFull, partial(error_reply, of.context, "busy"))
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _parameter_problem)
    app.add_exception_handler(Refused, refused_response)
    for error in UNAVAILABLE:
        app.add_exception_handler(error, partial(_database_unavailable, of.context))
    app.add_exception_handler(AuthError, auth.pages.refusals(services.auth, of.account_pages))


def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = problem_body(error.status_code, _CODES.get(error.status_code, "error"), detail=str(error.detail))
    return problem_response(body, error.headers)


def _parameter_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if {"json_invalid", "model_attributes_type"} & {fault["type"] for fault in error.errors()}:
        return problem(422, "invalid-parameter", detail=_("The body is not a JSON object."))
    problems = (f"{'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}" for fault in error.errors()[:_MOST_ERRORS])
    detail = join_sentences(*problems)
    return problem(422, "invalid-parameter", detail=detail)


async def _database_unavailable(context: RenderContext, request: Request, error: Exception) -> Response:
    """Answer 503: whether a change was made may be unknown; the same file sent again is the same submission."""
    if not is_unavailable(error):
        raise error  # a fault of ours, as any other
    if not log_away(error):
        log.error("database.unavailable", exc_info=error)
    return await error_reply(context, "offline", request, error)
