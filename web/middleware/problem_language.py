"""Errors for programs, problem+json, in the language of who asks: `detail` and what is listed below it.

`code` stays as it is, and so does everything in English where no other language is asked for.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from starlette.types import Message, Send

from auth.problem_details import MEDIA_TYPE
from common.translations import Translations

_LISTS = ("problems", "errors")
_BETWEEN = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def translating(send: Send, of: Translations) -> Send:
    """Return what sends a response in a language, if it is an error of the API; all others go through as they are."""
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start" and _is_problem(message):
            start = message
        elif start is None:
            await send(message)
        else:
            body += message.get("body", b"")
            if not message.get("more_body", False):
                translated = translated_problem(body, of) if body else body  # HEAD has none
                await send({**start, "headers": _headers(start, translated, of=of)})
                await send({"type": "http.response.body", "body": translated})

    return sending


def translated_problem(body: bytes, of: Translations) -> bytes:
    """Return a problem with its sentences in a language."""
    problem: dict[str, Any] = json.loads(body)
    problem["detail"] = sentences_in(of, str(problem.get("detail", "")))
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


def _is_problem(start: Message) -> bool:
    headers = dict(start["headers"])
    return headers.get(b"content-type", b"").startswith(MEDIA_TYPE.encode()) and b"content-encoding" not in headers


def _headers(start: Message, body: bytes, *, of: Translations) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    length = [(b"content-length", str(len(body)).encode())] if body else []
    return [*kept, *length, (b"content-language", of.language.encode()), (b"vary", b"Accept-Language, Cookie")]
