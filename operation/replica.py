"""The place that outlives the disk: one directory or object store for the database's replica and all files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from storage.files.object_store import address_below, failure_reason, open_store, public_address, s3_options
from vlrb.common import atomic_files

DATABASE, UPLOADS, LABELS, AUDIT, ITEMS = "database", "uploads", "labels", "audit", "items"


class ReplicaUnusable(Exception):
    """REPLICA_URL prevents the start; the message says what to do."""


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
        """The address as messages may have it, without user and password."""
        return public_address(self.url)

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

    def read(self, name: str) -> bytes | None:
        """Return a file; None where there is none. Raises whatever else the store raises."""
        system, path = open_store(self.below(name))
        try:
            return bytes(system.cat_file(path))
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        system, path = open_store(self.below(name))
        if system.exists(path):
            system.rm_file(path)

    def files(self, folder: str) -> set[str]:
        """Return the paths of the files in a folder and in those below it, as they are named from the folder."""
        system, path = open_store(self.below(folder))
        try:
            paths = system.find(path, on_error="raise")  # else a store that does not answer looks empty
        except FileNotFoundError:
            return set()
        names = {name.removeprefix(path).strip("/") for name in paths}
        return {name for name in names if not name.rpartition("/")[2].startswith(".")}


def unusable(url: str, *, error: Exception) -> ReplicaUnusable:
    """Return what to raise where a place cannot be used: its address, the reason, and what to do.

    The error's own words may hold the address, and that a secret.
    """
    return ReplicaUnusable(
        f"REPLICA_URL={public_address(url)} cannot be used ({failure_reason(error)}). No board was opened. "
        "Check the address, its free space, and the keys in the environment (AWS_ACCESS_KEY_ID and so on), "
        "or name another to start an empty board."
    )


@dataclass(frozen=True, slots=True)
class FolderMirror:
    """A folder of files that are written once, and its copy.

    Of a file that this process has copied and that is gone, the copy goes too. A copy that was there before is not
    replaced: the file may have been damaged since.
    """

    folder: Path
    name: str
    replica: Replica
    copied: set[str] = field(default_factory=set)

    def restore(self) -> int:
        """Bring what the disk has not got; return the number of files. Raises whatever the store raises."""
        missing = sorted(self.replica.files(self.name) - self._here())
        for name in missing:
            content = self.replica.read(f"{self.name}/{name}")
            if content is not None:
                path = self.folder / name
                for folder in (self.folder, path.parent):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                atomic_files.write_once(path, content)
        return len(missing)

    def copy(self) -> int:
        """Copy what is new since the last call; return how many files changed in the replica."""
        here = self._here()
        new, gone = here - self.copied, self.copied - here
        new -= self.replica.files(self.name) if new else set()
        for name in new:
            self.replica.write(f"{self.name}/{name}", (self.folder / name).read_bytes())
        for name in gone:
            self.replica.remove(f"{self.name}/{name}")
        self.copied.intersection_update(here)
        self.copied.update(here)
        return len(new) + len(gone)

    def _here(self) -> set[str]:
        files = (path for path in self.folder.rglob("*.json") if not path.name.startswith("."))
        return {path.relative_to(self.folder).as_posix() for path in files}


def worker_mirrors(replica: Replica, state: Path) -> tuple[FolderMirror, ...]:
    """Return what a worker mirrors; labels are nothing for the web process."""
    return tuple(FolderMirror(state / name, name, replica=replica) for name in (LABELS, AUDIT, ITEMS))


def restore_items(replica: Replica | None, state: Path) -> int:
    """Bring manifests of items from the replica, before one is made of `LABELS`; return how many.

    Votes are stored by the place of an item: with another manifest than that of their time they would be misplaced.

    Raises:
        ReplicaUnusable: the replica cannot be read.
    """
    if replica is None:
        return 0
    try:
        return FolderMirror(state / ITEMS, ITEMS, replica=replica).restore()
    except Exception as error:  # of whatever store
        raise unusable(replica.url, error=error) from None
