"""Refusal of a request, with its answer over HTTP."""

from __future__ import annotations

from typing import Any, NamedTuple


class Refused(ValueError):
    """Something is not taken or not done; the message says why, and what to do. `facts`: the answer's other fields."""

    status, code = 422, "refused"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts


class FieldProblem(NamedTuple):
    """Why one field cannot be taken. `line`: of a file, from 1."""

    field: str | None
    code: str
    message: str  # names the remedy
    line: int | None = None

    def to_json(self) -> dict[str, str | int | None]:
        """Return the same shape as a problem in a file of predictions."""
        return {"line": self.line, "id": None, "field": self.field, "code": self.code, "message": self.message}
