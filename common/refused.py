"""Refusal of a request, with its answer over HTTP."""

from __future__ import annotations

from typing import Any


class Refused(ValueError):
    """Something is not taken or not done; the message says why, and what to do. `facts`: the answer's other fields."""

    status, code = 422, "refused"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts
