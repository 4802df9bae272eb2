"""OpenAPI descriptions of responses: a sentence, an example, and the problems that may come instead."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

Answers = dict[int | str, dict[str, Any]]


def answers(
    text: str, example: Any, *, problems: Mapping[tuple[int, str], str] | None = None, status: int = 200
) -> Answers:
    """Return a success, and the problems that a client may have to handle: (status, code) -> when it comes."""
    result: Answers = {status: {"description": text, "content": {"application/json": {"example": example}}}}
    for (number, code), when in (problems or {}).items():
        title = HTTPStatus(number).phrase
        body = {"type": "about:blank", "title": title, "status": number, "code": code, "detail": when}
        result[number] = {
            "description": f"{when} (`{code}`)",
            "content": {"application/problem+json": {"example": body}},
        }
    return result
