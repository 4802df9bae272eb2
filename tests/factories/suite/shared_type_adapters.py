"""Pydantic's validators of parameters made once in a process of tests: each application has a hundred routes whose
parameters are like those of the one before, and FastAPI makes the validators of each route twice.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_args

from fastapi._compat import v2
from pydantic import TypeAdapter


def share_type_adapters() -> None:
    """Have FastAPI use one validator for all parameters of a type with the same rules."""
    v2.TypeAdapter = _shared  # type: ignore[assignment,misc]


def _shared(annotated: Any, *, config: Any = None) -> TypeAdapter[Any]:
    annotation, *rules = get_args(annotated)
    return _adapter(_Parameter(annotation, repr((rules, config)), annotated=annotated, config=config))


class _Parameter:
    """A type with its rules, which have no hash. Equal are those of the very same type whose rules read the same."""

    def __init__(self, annotation: Any, rules: str, *, annotated: Any, config: Any) -> None:
        self.key = (id(annotation), rules)
        self.annotated, self.config = annotated, config  # kept, so that no other type gets the same id

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Parameter) and self.key == other.key


@lru_cache(maxsize=2000)
def _adapter(of: _Parameter) -> TypeAdapter[Any]:
    return TypeAdapter(of.annotated, config=of.config)
