"""Error responses as RFC 9457 problem details, shared by every package that answers HTTP requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from auth.model import AuthError
from common.refused import Refused
from vlrb.common.messages import replaced
from vlrb.common.translations import ENGLISH, translations

_JSON, MEDIA_TYPE = "application/json", "application/problem+json"
DATABASE_RETRY_SECONDS = 5
"""What `Retry-After` says while the database does not answer."""
READER: ContextVar[str] = ContextVar("reader", default=ENGLISH)
"""The BCP 47 tag of the language that the client asks for: what the API tells people is in it."""


def json_answer(
    value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None, *, kind: str = _JSON
) -> Response:
    """Return a JSON response whose messages are in the language that the client asks for."""
    language = READER.get()
    translated = {} if language == ENGLISH else {"Content-Language": language, "Vary": "Accept-Language, Cookie"}
    body = json.dumps(replaced(value, translations(language).text))
    return Response(body, status, {**translated, **(headers or {})}, kind)


def problem_body(status: int, code: str, *, detail: str, **more: Any) -> dict[str, Any]:
    """Return what is said: `code` is stable and for programs, `detail` a sentence for people."""
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail, **more}


def problem_response(body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer with such a body, kept by nobody. `retry_after` in it, in seconds, is a header too."""
    always = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    later = {"Retry-After": str(body["retry_after"])} if "retry_after" in body else {}
    return json_answer(body, body["status"], {**always, **later, **(headers or {})}, kind=MEDIA_TYPE)


def problem(status: int, code: str, *, detail: str, **more: Any) -> Response:
    """Return both in one."""
    return problem_response(problem_body(status, code, detail=detail, **more))


def refused_body(refused: Refused) -> dict[str, Any]:
    """Return what is said of something that is not taken or not done."""
    return problem_body(refused.status, refused.code, detail=str(refused), **refused.facts)


def refused_response(request: Request, error: Exception) -> Response:
    """Say it, as a handler of exceptions."""
    assert isinstance(error, Refused)
    return problem_response(refused_body(error))


def refusal(refused: AuthError) -> Response:
    """Return the answer to a request without permission."""
    later = {"retry_after": refused.retry_after} if refused.retry_after else {}
    body = problem_body(refused.status, refused.code, detail=refused.detail, **later)
    return problem_response(body, extra_headers(refused))


def extra_headers(refused: AuthError) -> Mapping[str, str]:
    """Headers that belong to a refusal's status."""
    if refused.retry_after:
        return {"Retry-After": str(refused.retry_after)}
    return {"WWW-Authenticate": "Bearer"} if refused.status == 401 else {}
