"""Names of judges and organisations as they stand on the board: short, and breakable. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from vlrb.common.messages import _, joined

_LONGEST, _HEAD, _TAIL = 56, 34, 18  # characters: of a name that is shown whole, and of what is left of a longer one
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_BREAKS = re.compile(r"(?<=_)(?=.)")  # browsers know dashes and slashes


class NameParts(NamedTuple):
    """A name as the board shows it: `owner` and `middle` are hidden from sight."""

    owner: str  # with the slash
    head: str
    middle: str
    tail: str


def short_name(model: str) -> str:
    """Return the name without its owner, where it is that of a repository (owner/name)."""
    return model.partition("/")[2] if _REPOSITORY.fullmatch(model) else model


def is_shortened(model: str) -> bool:
    """Return whether the board shows less than the whole name."""
    return short_name(model) != model or len(model) > _LONGEST


def name_parts(model: str) -> NameParts:
    """Return the parts of a name, which together are all of it; the middle of a long one gives way to an ellipsis."""
    name = short_name(model)
    owner = model[: len(model) - len(name)]
    if len(name) <= _LONGEST:
        return NameParts(owner, name, middle="", tail="")
    return NameParts(owner, name[:_HEAD], middle=name[_HEAD:-_TAIL], tail=name[-_TAIL:])


def breakable_parts(text: str) -> list[str]:
    """Return the parts of a name between which a line may break and a browser would not."""
    return _BREAKS.split(text)


def listed(words: Sequence[str]) -> str:
    """Return “a, b and c”."""
    if len(words) < 2:
        return "".join(words) if not words else words[0]
    return _("{others} and {last}", others=joined(words[:-1]), last=words[-1])


def phrases(*texts: str | None) -> str:
    """Return short phrases in one line; empty ones are left out."""
    given = [text for text in texts if text]
    return joined(given, " · ") if len(given) > 1 else next(iter(given), "")
