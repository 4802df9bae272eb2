"""Small folders of the data directory in the replica: imported label sets, heads of the audit chain, item manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from operation.replication.replica import AUDIT, ITEMS, LABELS, Replica, unusable
from vlrb.common import atomic_files


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
