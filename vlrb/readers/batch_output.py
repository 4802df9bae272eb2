"""Raw results of batch services: OpenAI, vLLM `run-batch` (both shapes) and Anthropic Message Batches.

A line holds a reply and its `custom_id`, nothing else; so the custom id has to tell pair, vote and order:
``<id>--v<vote>-<o or s>``, with ``o`` for the order as stored and ``s`` for swapped. Where ids repeat, and in at most
64 characters: ``r<row>-v<vote>-<o or s>-<fingerprint of the pair in base64url>``.
"""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vlrb.benchmarks.spec import value_at
from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip
from vlrb.verdicts import read_verdict

_OWN = re.compile(r"r(\d{1,9})-v(\d{1,2})-([os])-([A-Za-z0-9_-]{43})")
_NAMED = re.compile(r"(.{1,500})--v(\d{1,2})-([os])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RequestName:
    """What a custom id tells."""

    row: int  # in the file of items; 0 where it is not told
    vote: int
    swapped: int
    key: str | None = None
    id: str | None = None


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of result files, vote by vote of each pair, whatever the order of the lines."""
    kept: dict[RequestName, tuple[int, str | None]] = {}
    for fields in records:
        line, name = fields.line, request_name(fields.record.get("custom_id"))
        if name is None:
            message = _("must tell pair, vote and order: <id>--v0-o (as stored) or <id>--v0-s (swapped)")
            fields.fault("custom_id", "bad-field", message=message)
        text = reply_of(fields.record)
        if text is not None:
            fields.bounded(text, "response")
        if not fields.ok or name is None:
            continue
        earlier = kept.get(name)
        if earlier is not None and earlier[1] is not None and text is not None:
            parsed.findings.add(
                "duplicate-item", _("the request was already answered on line {line}", line=earlier[0]), line=line
            )
        elif earlier is None or text is not None:  # the answer of a repeated request counts, not its failure
            kept[name] = (line, text)
    for name, (line, text) in sorted(kept.items(), key=lambda item: (item[0].row, item[0].id or "", item[0].vote)):
        if text is None:
            parsed.mark_failed("failed")
        choice = flip(read_verdict(text or "", parsed.spec), name.swapped)
        parsed.add(PredictionRow(line, (choice,), (name.swapped,), name.id, key=name.key), (text or "",))


def request_name(value: Any) -> RequestName | None:
    """Return what a custom id tells; None where it does not tell enough."""
    if not isinstance(value, str):
        return None
    own = _OWN.fullmatch(value)
    if own:
        try:
            key = urlsafe_b64decode(own[4] + "=").hex()
        except (binascii.Error, ValueError):
            return None
        return RequestName(int(own[1]), int(own[2]), swapped=int(own[3] == "s"), key=key)
    named = _NAMED.fullmatch(value)
    return RequestName(0, int(named[2]), swapped=int(named[3] == "s"), id=named[1]) if named else None


def reply_of(record: Mapping[str, Any]) -> str | None:
    """Return the judge's text; "" for an empty reply, None for a request that failed."""
    result = record.get("result")
    if isinstance(result, dict):
        return _of_message(result.get("message")) if result.get("type") == "succeeded" else None
    response = record.get("response")
    if record.get("error") or not isinstance(response, dict):
        return None
    if "body" not in response:  # vLLM's chat results
        return _of_completion(response)
    status = response.get("status_code")
    return None if type(status) is int and status >= 400 else _of_completion(response["body"])


def _of_message(message: Any) -> str | None:
    return text_of(message.get("content")) if isinstance(message, dict) else None


def _of_completion(body: Any) -> str | None:
    """Return the text of a chat completion, or of a response, whose output also holds reasoning."""
    output, choices = (value_at(body, name) for name in ("output", "choices"))
    messages = [part for part in output if value_at(part, "type") == "message"] if isinstance(output, list) else []
    if messages:
        return "".join(text_of(message.get("content")) for message in messages)
    return _of_message(value_at(choices, "0.message"))


def text_of(content: Any) -> str:
    """Return a text, or the texts among parts; "" of all else."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [value_at(part, "text") for part in parts if value_at(part, "type") in (None, "text", "output_text")]
    return "".join(text for text in texts if isinstance(text, str))


BATCH = PredictionFormat(
    key="batch",
    read=read,
    file={"one_vote_a_row": True, "text_field": "custom_id", "reply_field": "response"},
    id_field="custom_id",
    fields=(("custom_id",), ("response", "result")),
    name="batch service",
    tool="Batch services (OpenAI, vLLM, Anthropic)",
    upload="results of requests that are named `<id>--v0-o`, all files of a run in one",
    command="cat results-*.jsonl errors-*.jsonl > batch.jsonl",
    note=(
        "The `custom_id` of a request names the pair, the vote and the order: "
        "`<id>--v0-o` is the id of the pair, the vote, and `o` for the order as stored or `s` for swapped. "
        "A request that failed is an undecided vote."
    ),
)
