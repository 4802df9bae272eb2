"""Paths below the directories that maintainers may import from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from vlrb.common.messages import _


class FolderNotAllowed(ValueError):
    """It is no folder below one of the directories; the message says what to do."""


def path_below(named: str, directories: Sequence[Path], *, is_wanted: Callable[[Path], bool]) -> Path | None:
    """Return the real path of what is named below one of the directories, if it is wanted; None if there is none.

    Links are followed first, so that none leads out.
    """
    for directory in (directory.resolve() for directory in directories):
        path = (directory / named).resolve()
        if path.is_relative_to(directory) and is_wanted(path):
            return path
    return None


def folder_below(named: str, directories: Sequence[Path]) -> Path:
    """Return the real path of a folder below one of the directories.

    Raises:
        FolderNotAllowed: it is anything else; the same words whether a folder elsewhere exists or not.
    """
    if (folder := path_below(named, directories, is_wanted=Path.is_dir)) is not None:
        return folder
    where = " or ".join(map(str, directories))
    raise FolderNotAllowed(
        _(
            "{named} is not a folder below {where}. Put the pool there, or name another directory in "
            "LABEL_IMPORT_DIRS.",
            named=named,
            where=where,
        )
    )
