"""Errors for programs, problem+json, and check reports in the language of who asks: `detail` and what is listed below.

`code` stays as it is, and so does everything in English where no other language is asked for.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from starlette.types import Message, Send

from auth.problem_details import MEDIA_TYPE
from vlrb.common.translations import Translations
from web.middleware.replaced_responses import ResponseHeaders, replacing

_LISTS = ("problems", "errors", "warnings")
_CHECK = "/api/v1/check"  # its report has the problems and warnings that a refused submission lists
_BETWEEN = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def translating(send: Send, of: Translations, *, path: str = "") -> Send:
    """Return what sends a response in a language, if it is an error of the API or a check report; all others go through
    as they are."""

    def in_language(start: Message, body: bytes) -> tuple[ResponseHeaders, bytes]:
        translated = translated_problem(body, of) if body else body  # HEAD has none
        return _headers(start, translated, of=of), translated

    return replacing(send, in_language, kinds=(MEDIA_TYPE, *(["application/json"] if path.endswith(_CHECK) else [])))


def translated_problem(body: bytes, of: Translations) -> bytes:
    """Return a problem with its sentences in a language."""
    problem: dict[str, Any] = json.loads(body)
    if "detail" in problem:
        problem["detail"] = sentences_in(of, str(problem["detail"]))
    for name in _LISTS:
        for listed in problem.get(name) or ():
            if isinstance(listed, dict) and isinstance(listed.get("message"), str):
                listed["message"] = sentences_in(of, listed["message"])
    return json.dumps(problem).encode()


@lru_cache(maxsize=1024)
def sentences_in(of: Translations, text: str) -> str:
    """Return sentences of the program, which came as plain text, in a language."""
    whole = of.sentence(text)
    return whole if whole != text else " ".join(map(of.sentence, _BETWEEN.split(text)))


def _headers(start: Message, body: bytes, *, of: Translations) -> ResponseHeaders:
    kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    length = [(b"content-length", str(len(body)).encode())] if body else []
    return [*kept, *length, (b"content-language", of.language.encode()), (b"vary", b"Accept-Language, Cookie")]
