"""Atomic, fsynced file writes in a local directory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECRET, PUBLIC = 0o600, 0o644
TEMPORARY = ".incoming-"  # begins the names of files that are being written
_CHUNK = 1 << 20


def write_once(path: Path, content: bytes, *, mode: int = SECRET) -> bool:
    """Return False if the file exists already: of several concurrent writers the first one's content stays.

    Makes the directories above it where they are missing.
    """
    with _incoming(path, content, mode=mode) as name:
        try:
            os.link(name, path)
        except FileExistsError:
            written = False
        else:
            written = True
    sync_directory(path.parent)  # also of the one that came second: the first may not have got so far
    return written


def write(path: Path, content: bytes | Path, *, mode: int = SECRET) -> None:
    """Write bytes, or those of a file, in place of a file that is there, whole or not at all."""
    with _incoming(path, content, mode=mode) as name:
        Path(name).replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Sync the directory: a new name is on the disk only when its directory is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _incoming(path: Path, content: bytes | Path, *, mode: int) -> Iterator[str]:
    """Provide the content under another name beside its place, which is gone afterwards."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, Path):
                with content.open("rb") as source:
                    shutil.copyfileobj(source, file, _CHUNK)
            else:
                file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
