"""Batch files: requests as OpenAI, vLLM and Anthropic take them, and their results. Pure but for reading images."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.judge.configuration import RunConfiguration
from vlrb.judge.images import image_url
from vlrb.judge.pairs import PairToJudge, RequestKey, is_swapped
from vlrb.judge.parameters import EXCLUSIVE, RENAMED
from vlrb.judge.requests import UnusableReply, chat_body, chat_messages, read_chat, read_usage
from vlrb.judge.texts import as_content, as_reason

OPENAI, VLLM, ANTHROPIC = "openai", "vllm", "anthropic"
_CUSTOM_ID = re.compile(r"r(\d{1,9})-v(\d{1,2})-[os]-[A-Za-z0-9_-]{43}")
_LIKE_A_KEY = re.compile(r"\b(?:sk|hf|gsk|xai)[-_][A-Za-z0-9_*-]{12,}")  # services repeat one that they refuse
_NO_RESULT = "the line has no result"
_NOT_ASKED = frozenset({"batch_expired", "batch_cancelled", "expired", "canceled"})


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How much one batch file may hold; a little below what the service takes."""

    requests: int
    octets: int


LIMITS: Mapping[str, FileLimits] = {
    OPENAI: FileLimits(50_000, 190_000_000),
    VLLM: FileLimits(50_000, 190_000_000),
    ANTHROPIC: FileLimits(100_000, 240_000_000),
}


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One line of a result file. `name`: the custom id; `fields`: of the answer, None where it was never asked."""

    key: RequestKey
    name: str
    fields: Mapping[str, Any] | None


def custom_id(key: RequestKey, pair: PairToJudge, *, swapped: bool) -> str:
    """Return the id of a request: row, vote, order (o or s) and the pair's fingerprint in base64url.

    At most 60 of the 64 characters that all services take. The raw results can be uploaded, since nothing else in them
    tells pair and order.
    """
    mark = urlsafe_b64encode(bytes.fromhex(pair.fingerprint)).decode().rstrip("=")
    return f"r{key.row}-v{key.vote}-{'s' if swapped else 'o'}-{mark}"


def request_line(
    form: str, configuration: RunConfiguration, *, pair: PairToJudge, key: RequestKey, image: str
) -> dict[str, Any]:
    """Return the line of a batch file that asks for one vote."""
    swapped = is_swapped(pair, key.vote, order=configuration.order, seed=configuration.seed)
    text = configuration.prompt.render(pair.query, pair.responses, swapped=swapped)
    messages = chat_messages(configuration.prompt, text, image=image)
    body = chat_body(configuration.model, messages, parameters=configuration.parameters)
    del body["stream"]  # nothing streams in a batch
    name = custom_id(key, pair, swapped=swapped)
    if form == ANTHROPIC:
        return {"custom_id": name, "params": _anthropic(body)}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def image_of(pair: PairToJudge, configuration: RunConfiguration) -> str:
    """Return the image of a pair as a run sends it."""
    return image_url(pair.image, configuration.images)


def _anthropic(body: dict[str, Any]) -> dict[str, Any]:
    given = body["messages"][0]["content"]
    parts = [part if part["type"] == "text" else _anthropic_image(part["image_url"]["url"]) for part in given]
    if (renamed := RENAMED["max_tokens"]) in body:  # as OpenAI has it; this service wants the usual name
        body["max_tokens"] = body.pop(renamed)
    if all(name in body for name in EXCLUSIVE):  # its newer models take one of them
        del body[EXCLUSIVE[1]]
    return {**body, "messages": [{"role": "user", "content": parts}]}


def _anthropic_image(url: str) -> dict[str, Any]:
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def split(lines: Iterable[bytes], limits: FileLimits) -> Iterator[tuple[int, bytes]]:
    """Yield each line with the number, from 1, of the file that it goes into."""
    number, count, octets = 1, 0, 0
    for line in lines:
        if count and (count >= limits.requests or octets + len(line) > limits.octets):
            number, count, octets = number + 1, 0, 0
        count, octets = count + 1, octets + len(line)
        yield number, line


def read_result(line: Any) -> BatchResult | None:
    """Return what a line of a result file says; None if it is no result of an exported request."""
    match = _CUSTOM_ID.fullmatch(str(line.get("custom_id"))) if isinstance(line, Mapping) else None
    if match is None:
        return None
    result = line.get("result")
    fields = _anthropic_result(result) if isinstance(result, Mapping) else _openai_result(line)
    return BatchResult(RequestKey(int(match[1]), int(match[2])), match[0], fields=fields)


def _anthropic_result(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    kind, message = result.get("type"), result.get("message")
    if isinstance(kind, str) and kind in _NOT_ASKED:
        return None
    if kind != "succeeded":
        return _failed(result.get("error") or kind or _NO_RESULT)
    if not isinstance(message, Mapping):
        return _failed("the result has no message")
    parts = message.get("content")
    listed = parts if isinstance(parts, list) else []
    texts = [str(part.get("text", "")) for part in listed if isinstance(part, Mapping) and part.get("type") == "text"]
    stop = as_reason(message["stop_reason"]) if isinstance(message.get("stop_reason"), str) else None
    text = as_content("".join(texts))
    reason = "" if text else f"empty content (finish reason: {stop})"
    return {"text": text, "reason": reason, "finish_reason": stop, "usage": read_usage(message)}


def _openai_result(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    error, response = line.get("error"), line.get("response")
    if isinstance(error, Mapping) and isinstance(error.get("code"), str) and error["code"] in _NOT_ASKED:
        return None
    if error:
        return _failed(error)
    nested = isinstance(response, Mapping) and "body" in response
    body = response["body"] if isinstance(response, Mapping) and nested else response
    status = response.get("status_code") if nested and isinstance(response, Mapping) else None
    if isinstance(status, int) and status >= 400:
        return _failed(body)
    try:
        reply = read_chat(body)
        return {name: getattr(reply, name) for name in ("text", "reason", "finish_reason", "usage")}
    except UnusableReply as unusable:
        return _failed(str(unusable))


def _failed(error: Any) -> Mapping[str, Any]:
    inner = error.get("error", error) if isinstance(error, Mapping) else error
    message = inner.get("message") or inner if isinstance(inner, Mapping) else inner
    return {"failed": True, "text": "", "reason": as_reason(_LIKE_A_KEY.sub("[key]", str(message)))}
