"""Errors that end a command with a sentence, and progress of long steps on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from vlrb.common.command_line import CommandError

T = TypeVar("T")
_LISTED = 20


class CurateError(CommandError):
    """A step of an edition cannot go on, or a row cannot be used."""


def listed(problems: Sequence[str]) -> str:
    """Return the first problems, one a line, and the number of the others."""
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"... and {more:,} more"] if more > 0 else [])])


def follow(steps: Iterable[T], what: str) -> Iterable[T]:
    """Yield the steps, and show in a terminal how many are done once they take longer than a second."""
    from tqdm import tqdm

    shown: Iterable[T] = tqdm(steps, what, delay=1, disable=None)
    return shown
