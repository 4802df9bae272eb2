"""Exception handlers of the application."""

from __future__ import annotations

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from auth.problem_details import problem, problem_body, problem_response

_MOST_ERRORS = 20  # that are told of one request
_CODES = {400: "bad-request", 405: "method-not-allowed", 413: "too-large", 422: "invalid-parameter"}


def http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = problem_body(error.status_code, _CODES.get(error.status_code, "error"), str(error.detail))
    return problem_response(body, error.headers)


def parameter_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if {"json_invalid", "model_attributes_type"} & {one["type"] for one in error.errors()}:
        return problem(422, "invalid-parameter", "The body is not a JSON object.")
    detail = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:_MOST_ERRORS])
    return problem(422, "invalid-parameter", detail)


def unfit_text(request: Request, error: Exception) -> Response:
    return problem(422, "bad-text", str(error))
