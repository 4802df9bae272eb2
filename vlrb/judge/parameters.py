"""Sampling parameters, and those that a model refuses: renamed or dropped once, for the whole run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

RENAMED = {"max_tokens": "max_completion_tokens"}
_REFUSAL = re.compile(
    r"not supported|unsupported|(?:does|do)(?: not|n't) support|unrecogni[sz]ed|unknown|unexpected|not permitted"
    r"|not allowed|not accept|deprecated|extra (?:inputs|fields)|only (?:the )?default|instead|refuse",
    re.IGNORECASE,
)
_NOT_TOGETHER = re.compile(r"cannot both|can't both|only one|not both|mutually exclusive|together", re.IGNORECASE)
EXCLUSIVE = ("temperature", "top_p")
"""Parameters that some models take one of: Anthropic's, since Opus 4.1 and Sonnet 4.5. The first is kept."""


def refused_parameter(body: Any, sent: Mapping[str, Any]) -> str | None:
    """Return which of the parameters sent an error body refuses; None if it says something else."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    fields: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error)}
    message = str(fields.get("message") or fields.get("detail") or "")
    code = str(fields.get("code") or "")
    if all(name in sent and name in message for name in EXCLUSIVE) and _NOT_TOGETHER.search(message):
        return EXCLUSIVE[1]
    if not (code.startswith(("unsupported", "unknown")) or _REFUSAL.search(message)):
        return None
    if fields.get("param") in sent:
        return str(fields["param"])
    places = {name: match.start() for name in sent if (match := re.search(rf"\b{re.escape(name)}\b", message))}
    return min(places, key=places.__getitem__, default=None)


class ParameterChanges:
    """What a run sends instead of the parameters that the model refused."""

    def __init__(self, parameters: Mapping[str, Any], events: Iterable[Mapping[str, Any]] = ()) -> None:
        self.now = dict(parameters)
        for event in events:
            self._apply(event["parameter"], event.get("renamed_to"))

    def change(self, name: str) -> str | None:
        """Drop a parameter, or rename it where another name is known; returns that name."""
        other = RENAMED.get(name)
        if other in self.now:
            other = None
        self._apply(name, other)
        return other

    def _apply(self, name: str, other: str | None) -> None:
        value = self.now.pop(name, None)
        if other is not None and value is not None:
            self.now[other] = value
