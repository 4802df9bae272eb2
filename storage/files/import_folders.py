"""Folders below the directories that maintainers may import from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from common.messages import _


class FolderNotAllowed(ValueError):
    """It is no folder below one of the directories; the message says what to do."""


def folder_below(named: str, directories: Sequence[Path]) -> Path:
    """Return the real path of a folder below one of the directories. Links are followed first, so that none leads out.

    Raises:
        FolderNotAllowed: it is anything else; the same words whether a folder elsewhere exists or not.
    """
    for directory in (directory.resolve() for directory in directories):
        folder = (directory / named).resolve()
        if folder.is_relative_to(directory) and folder.is_dir():
            return folder
    where = " or ".join(map(str, directories))
    raise FolderNotAllowed(
        _(
            "{named} is no folder below {where}. Put the pool there, or name another directory in LABEL_IMPORT_DIRS.",
            named=named,
            where=where,
        )
    )
