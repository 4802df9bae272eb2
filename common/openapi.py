"""OpenAPI descriptions of responses, from `openapi_answers.json`: a sentence, an example, and what may come instead."""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

Answers = dict[int | str, dict[str, Any]]


@cache
def _described() -> dict[str, dict[str, Any]]:
    data: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("openapi_answers.json").read_bytes())
    return data


def answers(name: str) -> Answers:
    """Return a success, and the problems that a client may have to handle; there, "status code" -> when it comes."""
    known = _described()[name]
    success = {"description": known["text"], "content": {"application/json": {"example": known["example"]}}}
    result: Answers = {known.get("status", 200): success}
    for key, when in known.get("problems", {}).items():
        status, code = key.split()
        title = HTTPStatus(int(status)).phrase
        body = {"type": "about:blank", "title": title, "status": int(status), "code": code, "detail": when}
        result[int(status)] = {
            "description": f"{when} (`{code}`)",
            "content": {"application/problem+json": {"example": body}},
        }
    return result
