"""Bodies of requests, as the official run sends them, and what is read from the replies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.judge.journal import TokenUsage
from vlrb.judge.prompts import Prompt
from vlrb.judge.texts import as_content, as_reason

_MOST_TOKENS = 10**9  # of one answer; a larger count is a mistake
OFFICIAL_PARAMETERS: Mapping[str, Any] = {"temperature": 0.2, "top_p": 0.2, "max_tokens": 2048}


class UnusableReply(Exception):
    """The endpoint answered with something that holds no answer."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat endpoint answered. An empty text has a reason."""

    text: str
    reason: str
    finish_reason: str | None
    usage: TokenUsage


def chat_messages(prompt: Prompt, text: str, *, image: str) -> list[dict[str, Any]]:
    """Return the one user message: text part and image part."""
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": image}},
    ]
    return [{"role": "user", "content": parts[::-1] if prompt.image_first else parts}]


def chat_body(model: str, messages: list[dict[str, Any]], *, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of `/chat/completions`; no seed, since K votes would become copies."""
    return {"model": model, "messages": messages, "stream": False, **parameters}


def classify_body(model: str, query: str, *, response: str, image: str) -> dict[str, Any]:
    """Return the body of vLLM's `/classify` for one response; the raw score is asked for."""
    user = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": query}]
    messages = [{"role": "user", "content": user}, {"role": "assistant", "content": response}]
    return {"model": model, "messages": messages, "use_activation": False}


def score_body(model: str, query: str, *, response: str, image: str) -> dict[str, Any]:
    """Return the body of vLLM's `/score` for one response."""
    parts = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": query}]
    return {"model": model, "queries": {"content": parts}, "documents": response, "use_activation": False}


def read_chat(body: Any) -> ChatReply:
    """Return the text of a chat completion.

    Raises:
        UnusableReply: there is no choice with a message.
    """
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableReply("the reply holds no choice with a message") from None
    if isinstance(content, list):  # parts, as some servers write them
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    if content is not None and not isinstance(content, str):
        raise UnusableReply("the content of the reply is no text")
    content = as_content(content) if content else ""  # half a character at the token limit
    finish = choice.get("finish_reason")
    finish = as_reason(finish) if isinstance(finish, str) else None
    return ChatReply(
        content, "" if content else as_reason(_why_empty(message, finish)), finish_reason=finish, usage=read_usage(body)
    )


def _why_empty(message: Mapping[str, Any], finish: Any) -> str:
    if message.get("refusal"):
        return f"refused: {str(message['refusal'])[:200]}"
    return f"empty content (finish reason: {finish})" if finish else "empty content"


def read_usage(body: Mapping[str, Any]) -> TokenUsage:
    """Return the token counts of a reply, OpenAI's names or Anthropic's."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return TokenUsage()
    return TokenUsage(
        _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        _count(usage.get("completion_tokens", usage.get("output_tokens"))),
    )


def read_score(body: Any) -> float:
    """Return the one score of a `/classify` or `/score` reply.

    Raises:
        UnusableReply: there is none, or there are several.
    """
    try:
        data = body["data"][0]
        result = data.get("score", data.get("probs"))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableReply("the reply holds no score") from None
    while isinstance(result, list) and len(result) == 1:
        result = result[0]
    if isinstance(result, list):
        raise UnusableReply(f"the model gives {len(result)} numbers a response; a reward model gives one")
    if isinstance(result, bool) or not isinstance(result, int | float) or not math.isfinite(result):
        raise UnusableReply("the score is no finite number")
    return float(result)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None
