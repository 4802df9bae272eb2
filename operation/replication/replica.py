"""The place that outlives the disk: one directory or object store for the database's replica and all files."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from storage.files.object_store import address_below, open_store, s3_options
from vlrb.common import atomic_files

DATABASE, UPLOADS, LABELS, AUDIT, KEYS, ITEMS = "database", "uploads", "labels", "audit", "keys", "items"
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)  # what mounts of object stores answer


@dataclass(frozen=True, slots=True)
class Replica:
    """Addresses and files below REPLICA_URL: a directory, or a URL that both Litestream and fsspec know.

    `mount`: the directory that must be there beforehand, so that a mount that failed is noticed; None: this one.
    """

    url: str
    mount: Path | None = None

    @property
    def directory(self) -> Path | None:
        """The directory, where it is one."""
        return None if "://" in self.url else Path(self.url)

    @property
    def public_name(self) -> str:
        """The address without user, password and options."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if self.directory is None else self.url

    def below(self, name: str) -> str:
        """Return the address of something in it."""
        return address_below(self.url, name)

    def part(self, name: str) -> Replica:
        """Return a replica of its own in a folder here, which is made when it is first written to."""
        return Replica(self.below(name), self.directory)

    def litestream(self) -> dict[str, Any]:
        """Return the replica as Litestream's configuration has it."""
        if self.directory is not None:
            return {"type": "file", "path": str(self.directory.absolute() / DATABASE)}
        parts = urlsplit(self.url)
        if parts.scheme != "s3":
            return {"url": self.below(DATABASE)}
        options = s3_options(parts)
        path = f"{parts.path.strip('/')}/{DATABASE}".lstrip("/")
        result = {"type": "s3", "bucket": parts.netloc, "path": path, **options}
        return {**result, "force-path-style": True} if "endpoint" in options else result

    def write(self, name: str, content: bytes) -> None:
        """Store a file, in place of what is there. Raises whatever the store raises."""
        if self.directory is not None:
            atomic_files.write(self.directory / name, content)
            return
        system, path = open_store(self.below(name))
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        system.pipe_file(path, content)

    def write_once(self, name: str, content: bytes) -> bool:
        """Store a file; False where there is one, which stays. Raises whatever the store raises.

        In a directory the first of several processes wins. In an object store, and on a mount without hard links, they
        must wait for one another: not every store, and not the client of S3 that is used here, writes on condition.
        """
        if self.directory is not None:
            try:
                return atomic_files.write_once(self.directory / name, content)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
        if self.read(name) is not None:
            return False
        self.write(name, content)
        return True

    def read(self, name: str) -> bytes | None:
        """Return a file; None where there is none. Raises whatever else the store raises."""
        try:
            if self.directory is not None:
                return (self.directory / name).read_bytes()
            system, path = open_store(self.below(name))
            return bytes(system.cat_file(path))
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        if self.directory is not None:
            (self.directory / name).unlink(missing_ok=True)
            return
        system, path = open_store(self.below(name))
        if system.exists(path):
            system.rm_file(path)

    def files(self, folder: str) -> set[str]:
        """Return the paths of the files in a folder and in those below it, as they are named from the folder."""
        if self.directory is not None:
            root = self.directory / folder
            paths = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
            return {path.relative_to(root).as_posix() for path in paths}
        system, path = open_store(self.below(folder))
        try:
            paths = system.find(path, on_error="raise")  # else a store that does not answer looks empty
        except FileNotFoundError:
            return set()
        return {name.removeprefix(path).strip("/") for name in paths}

    def names(self, folder: str) -> set[str]:
        """Return the names of what lies in a folder."""
        if self.directory is not None:
            there = self.directory / folder
            files = there.iterdir() if there.is_dir() else ()
            return {path.name for path in files if not path.name.startswith(".")}
        system, path = open_store(self.below(folder))
        try:
            listed = system.ls(path, detail=False)
        except FileNotFoundError:
            return set()
        names = {path.rstrip("/").rpartition("/")[2] for path in listed}
        return {name for name in names if name != folder and not name.startswith(".")}
