"""Temporary files of uploads: written as they arrive, counted, hashed, and removed after the request."""

from __future__ import annotations

import hashlib
import secrets
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from common.refused import Refused
from vlrb.common.file_limit import too_large

LEFT_BEHIND = 3600.0  # seconds after which nobody is writing to a file any more


class TooLarge(Refused):
    """A file is larger than this service takes."""

    status, code = 413, "too-large"

    def __init__(self, limit: int) -> None:
        super().__init__(too_large(limit))
        self.limit = limit


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A complete file, not yet judged. `name` is for display and is never used as a path."""

    path: Path
    name: str
    sha256: str
    size: int

    @classmethod
    def on_disk(cls, path: Path, name: str, *, limit: int) -> UploadedFile:
        """Return a file that is on this machine already.

        Raises:
            TooLarge: it has more than `limit` bytes.
        """
        if path.stat().st_size > limit:
            raise TooLarge(limit)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, display_name(name), sha256=digest, size=path.stat().st_size)


class UploadWriter:
    """A file that is being written."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self._limit = path, limit
        self._hash, self._size = hashlib.sha256(), 0
        self._file = path.open("xb")

    def write(self, chunk: bytes) -> None:
        """Append a chunk.

        Raises:
            TooLarge: with this chunk the file is longer than the limit; nothing more is written.
        """
        self._size += len(chunk)
        if self._size > self._limit:
            raise TooLarge(self._limit)
        self._hash.update(chunk)
        self._file.write(chunk)

    def finish(self, name: str) -> UploadedFile:
        """Return the complete file."""
        self._file.flush()
        return UploadedFile(self._path, display_name(name), sha256=self._hash.hexdigest(), size=self._size)

    def close(self) -> None:
        """Close the file; harmless when closed."""
        self._file.close()


class Spool:
    """A folder of files on their way in."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit

    def sweep(self, older_than_seconds: float = LEFT_BEHIND) -> int:
        """Remove what a process that was killed left behind; returns how many files. Others may be writing here."""
        return sweep(self.folder, older_than_seconds)

    @contextmanager
    def incoming(self) -> Iterator[UploadWriter]:
        """Provide a file to write to; it is removed at the end, whatever happened."""
        path = self.folder / secrets.token_hex(16)
        file = UploadWriter(path, self.limit)
        try:
            yield file
        finally:
            file.close()
            path.unlink(missing_ok=True)


def sweep(folder: Path, older_than_seconds: float = LEFT_BEHIND, *, named: str = "*") -> int:
    """Remove the files below a folder (made if need be) that nobody has written to for so long; returns how many."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    removed, limit = 0, time.time() - older_than_seconds
    for path in list(folder.rglob(named)):
        with suppress(FileNotFoundError):  # another process sweeps too
            if path.is_file() and path.stat().st_mtime < limit:
                path.unlink()
                removed += 1
    return removed


def display_name(name: str) -> str:
    """Return the last part of a file name as people may see it: one line, nothing invisible, at most 200 characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(
        c for c in unicodedata.normalize("NFC", last) if not unicodedata.category(c).startswith(("C", "Z")) or c == " "
    )
    return visible.strip()[:200] or "predictions"
