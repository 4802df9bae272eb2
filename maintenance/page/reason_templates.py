"""Reasons to choose from, by action: `reason_templates.toml`, which is part of the program and read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

PATH = Path(__file__).with_name("reason_templates.toml")
EVERY_ACTION = "*"


@cache
def reason_templates(path: Path = PATH) -> Mapping[str, Sequence[str]]:
    """Return action -> reasons; those of EVERY_ACTION are for actions without any."""
    return MappingProxyType(tomllib.loads(path.read_text("utf-8")))


def reasons_for(action: str) -> Sequence[str]:
    """Return the reasons that people may choose from for an action."""
    known = reason_templates()
    return tuple(known.get(action, known[EVERY_ACTION]))
