"""Bodies of requests, as the official run and vLLM have them, and what is read from the replies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vlrb.judge.configuration import CHAT, SCORE, RunConfiguration
from vlrb.judge.endpoint import TransientFault
from vlrb.judge.pairs import PairToJudge, RequestKey
from vlrb.judge.texts import as_content, as_reason
from vlrb.readers.batch_output import text_of

_MOST_TOKENS = 10**9  # of one answer; a larger count is a mistake
_MALFORMED = (KeyError, IndexError, TypeError, AttributeError)


def request_body(
    configuration: RunConfiguration, pair: PairToJudge, *, key: RequestKey, swapped: bool, image: str
) -> dict[str, Any]:
    """Return the body of `/chat/completions`, without a seed, since K votes would become copies; or that of vLLM's
    `/classify` or `/score` for one response, which asks for the raw score."""
    model, shown = configuration.model, {"type": "image_url", "image_url": {"url": image}}
    if configuration.api == CHAT:
        prompt = configuration.prompt
        parts = [{"type": "text", "text": prompt.render(pair.query, pair.responses, swapped=swapped)}, shown]
        messages = [{"role": "user", "content": parts[::-1] if prompt.image_first else parts}]
        return {"model": model, "messages": messages, "stream": False, **configuration.parameters}
    question, response = [shown, {"type": "text", "text": pair.query}], pair.responses[key.response]
    if configuration.api == SCORE:
        return {"model": model, "queries": {"content": question}, "documents": response, "use_activation": False}
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": response}]
    return {"model": model, "messages": messages, "use_activation": False}


def read_answer(api: str, body: Any) -> dict[str, Any]:
    """Return the fields of the answer in a reply.

    Raises:
        TransientFault: there is none.
    """
    answer = _read_chat(body) if api == CHAT else {"score": _read_score(body)}
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return {
        **answer,
        "prompt_tokens": _count(usage.get("prompt_tokens", usage.get("input_tokens"))),  # OpenAI's name or Anthropic's
        "completion_tokens": _count(usage.get("completion_tokens", usage.get("output_tokens"))),
    }


def _read_chat(body: Any) -> dict[str, Any]:
    """Return the text of a chat completion; an empty one has a reason."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = as_content(text_of(message.get("content")))  # half a character at the token limit
    except _MALFORMED:
        raise TransientFault("the reply holds no choice with a message") from None
    finish = choice.get("finish_reason")
    finish = as_reason(finish) if isinstance(finish, str) else None
    reason = "" if content else as_reason(_why_empty(message, finish))
    return {"text": content, "reason": reason, "finish_reason": finish}


def _why_empty(message: Mapping[str, Any], finish: Any) -> str:
    if message.get("refusal"):
        return f"refused: {str(message['refusal'])[:200]}"
    return f"empty content (finish reason: {finish})" if finish else "empty content"


def _read_score(body: Any) -> float:
    """Return the one score of a `/classify` or `/score` reply."""
    try:
        data = body["data"][0]
        result = data.get("score", data.get("probs"))
    except _MALFORMED:
        raise TransientFault("the reply holds no score") from None
    while isinstance(result, list) and len(result) == 1:
        result = result[0]
    if isinstance(result, list):
        raise TransientFault(f"the model gives {len(result)} numbers a response; a reward model gives one")
    if isinstance(result, bool) or not isinstance(result, int | float) or not math.isfinite(result):
        raise TransientFault("the score is no finite number")
    return float(result)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None
