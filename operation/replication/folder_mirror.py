"""Small folders of the data directory in the replica: imported label sets, heads of the audit chain, item manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from operation.replication.replica import AUDIT, ITEMS, LABELS, Replica, unusable
from vlrb.common import atomic_files

Signature = tuple[int, int]  # time of the last change in nanoseconds, and size


@dataclass(frozen=True, slots=True)
class FolderMirror:
    """A folder of files that are written once, and its copy.

    Of a file that this process has copied and that is gone, the copy goes too. A copy that was there before is not
    replaced: the file may have been damaged since.
    """

    folder: Path
    name: str
    replica: Replica
    copied: dict[str, Signature] = field(default_factory=dict)

    def restore(self) -> int:
        """Bring what the disk has not got; return the number of files. Raises whatever the store raises."""
        here = self._here()
        missing = sorted(self.replica.files(self.name) - here.keys())
        for name in missing:
            content = self.replica.read(f"{self.name}/{name}")
            if content is not None:
                path = self.folder / name
                for folder in (self.folder, path.parent):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                atomic_files.write_once(path, content)
        return len(missing)

    def copy(self) -> int:
        """Copy what is new or changed since the last call; return how many files changed in the replica."""
        here = self._here()
        changed = [name for name, signature in here.items() if self.copied.get(name) != signature]
        gone = [name for name in self.copied if name not in here]
        new = {name for name in changed if name not in self.copied}
        there = self.replica.files(self.name) & new if new else set()
        for name in changed:
            if name not in there:
                self.replica.write(f"{self.name}/{name}", (self.folder / name).read_bytes())
            self.copied[name] = here[name]
        for name in gone:
            self.replica.remove(f"{self.name}/{name}")
            del self.copied[name]
        return len(changed) - len(there) + len(gone)

    def _here(self) -> dict[str, Signature]:
        if not self.folder.is_dir():
            return {}
        files = [path for path in self.folder.rglob("*.json") if not path.name.startswith(".")]
        return {
            path.relative_to(self.folder).as_posix(): ((stat := path.stat()).st_mtime_ns, stat.st_size)
            for path in files
        }


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
