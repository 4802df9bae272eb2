"""Paths below the directories that maintainers may import from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


def path_below(named: str, directories: Sequence[Path], *, is_wanted: Callable[[Path], bool]) -> Path | None:
    """Return the real path of what is named below one of the directories, if it is wanted; None if there is none.

    Links are followed first, so that none leads out.
    """
    for directory in (directory.resolve() for directory in directories):
        path = (directory / named).resolve()
        if path.is_relative_to(directory) and is_wanted(path):
            return path
    return None
