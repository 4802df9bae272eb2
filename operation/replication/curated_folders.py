"""Folders of pools and editions in the replica: each file once under its SHA-256, and a list of files for each folder.

Such a folder stays as it is once the database has recorded it. So its files are copied once, and neither changed nor
removed there. Only workers do this: pools and editions hold labels.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from operation.replication.replica import EDITIONS, FILES, POOLS, Replica
from storage.database import Database
from storage.files.uploads import UploadDamaged, Uploads
from storage.integrity import audit
from storage.models.pools import Pool
from vlrb.common import atomic_files
from vlrb.common.messages import _

EXPORTED = "editions.exported"
_PARTS = ("public", "private", "verified")
_CARD = "public/{}/card.json"

log = logging.getLogger(__name__)


class RecordedFolder(NamedTuple):
    """A folder that the database knows. `parts`: folders below `root` that belong to it.

    `proof`: a file in it, and the SHA-256 that was recorded of that file.
    """

    name: str  # of its list of files in the replica, without ending
    root: Path
    parts: tuple[str, ...]
    proof: tuple[str, str]

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield each file under its path below `root`; hidden ones and links to elsewhere are no part of it."""
        root = self.root.resolve()
        for part in self.parts:
            for path in sorted((root / part).rglob("*")):
                name = path.relative_to(root)
                hidden = any(piece.startswith(".") for piece in name.parts)
                if path.is_file() and not hidden and path.resolve().is_relative_to(root):
                    yield name.as_posix(), path

    @property
    def is_here(self) -> bool:
        """Whether this disk has the folder as it was recorded."""
        path, digest = self.root / self.proof[0], self.proof[1]
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def recorded_folders(session: Session, editions: Path) -> list[RecordedFolder]:
    """Return the folders of all imported pools and exported editions. `editions`: where editions are made."""
    wanted = select(Pool.id, Pool.folder, Pool.candidates, Pool.sha256).order_by(Pool.id)
    pools = [
        RecordedFolder(f"{POOLS}/{number}", Path(folder), parts=("",), proof=(candidates, digest))
        for number, folder, candidates, digest in session.execute(wanted)
    ]
    digests = {event.body["edition"]: event.body["card_sha256"] for event in audit.newest(session, [EXPORTED])}
    return pools + [
        RecordedFolder(
            f"{EDITIONS}/{name}",
            editions,
            parts=tuple(f"{part}/{name}" for part in _PARTS),
            proof=(_CARD.format(name), digest),
        )
        for name, digest in sorted(digests.items())
    ]


class FolderArchive:
    """The copies of recorded folders in the replica."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._files = Uploads(replica.below(FILES))

    def has(self, folder: RecordedFolder) -> bool:
        """Return whether the replica lists the folder as it was recorded."""
        path, digest = folder.proof
        return self._listed(folder).get(path) == digest

    def copy(self, folder: RecordedFolder) -> int:
        """Copy the files that the replica has not got; return their number. The list is written last."""
        listed = self._listed(folder)
        new = {name: self._files.keep(path) for name, path in folder.files() if name not in listed}
        if new:
            content = json.dumps({"files": listed | new}, indent=1, sort_keys=True)
            self._replica.write(f"{folder.name}.json", content.encode())
        return len(new)

    def restore(self, folder: RecordedFolder) -> int:
        """Bring the files that this disk has not got; return their number.

        What is not what its hash says is logged and left out.
        """
        root, brought = folder.root.resolve(), 0
        for name, digest in sorted(self._listed(folder).items()):
            path = (root / name).resolve()
            if path.exists() or not path.is_relative_to(root):
                continue
            try:
                atomic_files.write_once(path, self._files.read(digest))
                brought += 1
            except (FileNotFoundError, UploadDamaged) as error:
                facts = {"folder": folder.name, "file": name, "reason": type(error).__name__}
                log.error("curated_folder.file_lost", extra={"data": facts})
        return brought

    def check(self, folder: RecordedFolder) -> Iterator[str]:
        """Yield a sentence for each copy that is missing or damaged, and that this disk cannot replace."""
        root = folder.root.resolve()
        for name, digest in sorted(self._listed(folder).items()):
            try:
                self._files.read(digest)
                continue
            except (FileNotFoundError, UploadDamaged):
                path = (root / name).resolve()
                whole = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
            if not whole:
                yield _(
                    "The copy of {name} ({folder}) in the replica is missing or damaged. Put the file back.",
                    name=name,
                    folder=folder.name,
                )
                continue
            self._files.keep(path)
            log.warning("curated_folder.copy_mended", extra={"data": {"folder": folder.name, "file": name}})

    def _listed(self, folder: RecordedFolder) -> dict[str, str]:
        content = self._replica.read(f"{folder.name}.json")
        return {} if content is None else dict(json.loads(content)["files"])


@dataclass(slots=True)
class CuratedFolders:
    """What a worker keeps: every recorded folder on this disk and in the replica. `editions`: where they are made."""

    database: Database
    replica: Replica
    editions: Path
    _seen: int | None = None
    _done: set[str] = field(default_factory=set)

    def mirror(self) -> None:
        """Bring and copy folders that this process has not handled yet. Raises whatever the store raises."""
        with self.database.read() as session:
            head = audit.head(session).seq
            if head == self._seen:
                return
            folders = recorded_folders(session, self.editions)
        for folder in (folder for folder in folders if folder.name not in self._done):
            self._handle(folder)
            self._done.add(folder.name)
        self._seen = head

    def check(self) -> list[str]:
        """Read every copy and compare it with its hash. Raises whatever the store raises."""
        with self.database.read() as session:
            folders = recorded_folders(session, self.editions)
        archive = FolderArchive(self.replica)
        return [sentence for folder in folders for sentence in archive.check(folder)]

    def _handle(self, folder: RecordedFolder) -> None:
        archive = FolderArchive(self.replica)
        if archive.has(folder) and (brought := archive.restore(folder)):
            log.warning("curated_folder.restored", extra={"data": {"folder": folder.name, "files": brought}})
        if folder.is_here:
            archive.copy(folder)


def find_problems(session: Session, replica: Replica, *, editions: Path, here: bool = True) -> list[str]:
    """Return a sentence for each recorded folder that is missing here (unless `here` is false) or in the replica."""
    archive = FolderArchive(replica)
    problems: list[str] = []
    for folder in recorded_folders(session, editions):
        if here and not folder.is_here:
            root = folder.root / folder.proof[0]
            problems.append(
                _(
                    "{root} ({name}) is missing or changed. Put the folder back, or start a worker, which brings it.",
                    root=root,
                    name=folder.name,
                )
                if archive.has(folder)
                else _("{root} ({name}) is missing or changed. Put the folder back.", root=root, name=folder.name)
            )
        elif not archive.has(folder):
            problems.append(
                _(
                    "{root} ({name}) is not in the replica. Is a worker running? It copies it.",
                    root=folder.root,
                    name=folder.name,
                )
            )
    return problems
