"""Exception handlers of the application."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

import auth.routes
import leaderboard.routes
from auth import AuthError
from auth.problem_details import problem, problem_body, problem_response
from leaderboard.serial_executor import QueueFull
from storage.models.core import UnfitText
from web.services import Services

_MOST_ERRORS = 20  # that are told of one request
_CODES = {400: "bad-request", 405: "method-not-allowed", 413: "too-large", 422: "invalid-parameter"}


def add_exception_handlers(app: FastAPI, services: Services) -> None:
    """Answer every error with problem+json, or with a page where a browser asked for one."""
    app.add_exception_handler(404, leaderboard.routes.not_found)
    app.add_exception_handler(Exception, leaderboard.routes.failed)
    app.add_exception_handler(QueueFull, leaderboard.routes.busy)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _parameter_problem)
    app.add_exception_handler(UnfitText, _unfit_text)
    app.add_exception_handler(AuthError, auth.routes.refusals(services.auth, services.account_pages))


def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = problem_body(error.status_code, _CODES.get(error.status_code, "error"), str(error.detail))
    return problem_response(body, error.headers)


def _parameter_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if {"json_invalid", "model_attributes_type"} & {one["type"] for one in error.errors()}:
        return problem(422, "invalid-parameter", "The body is not a JSON object.")
    detail = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:_MOST_ERRORS])
    return problem(422, "invalid-parameter", detail)


def _unfit_text(request: Request, error: Exception) -> Response:
    return problem(422, "bad-text", str(error))
