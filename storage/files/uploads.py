"""Raw uploads by SHA-256, written once and never changed, in a directory or at any fsspec URL.

In a directory a file is durable when keep() returns: temporary file beside its place, fsync, rename, fsync of the
directory. Only then may an upload be acknowledged.
"""

import hashlib
import logging
import re
from pathlib import Path
from typing import Any

from common.refused import Refused
from storage.files.object_store import failure_reason, open_store
from storage.files.spool import LEFT_BEHIND, sweep
from vlrb.common import atomic_files
from vlrb.common.messages import _

_DIGEST = re.compile(r"[0-9a-f]{64}")

log = logging.getLogger(__name__)


class UploadDamaged(Exception):
    """The stored file no longer has the content that its name is the digest of."""


class StoreOffline(Refused):
    """The remote store of uploads does not answer, or refuses."""

    status, code = 503, "store-offline"

    def __init__(self) -> None:
        message = _(
            "The store of uploaded files does not answer at the moment. Nothing is wrong with your file: send it "
            "again in a minute; nothing is done twice."
        )
        super().__init__(message, retry_after=60)


class Uploads:
    """A store of files named by their SHA-256. Raises nothing but OSError, StoreOffline and UploadDamaged of its
    own."""

    def __init__(self, root: Path | str) -> None:
        """`root`: a directory (created when first needed), or an fsspec URL such as 's3://bucket/uploads'.

        Raises:
            ValueError, ImportError: such a URL cannot be reached (storage/files/object_store.py).
        """
        self._remote: tuple[Any, str] | None = None
        if isinstance(root, str) and "://" in root:
            self._remote = open_store(root)
        self._root = Path(root)

    def keep(self, source: Path | bytes) -> str:
        """Store the content; returns its SHA-256 (hex). The same content is kept once, also when it comes at once.

        Raises StoreOffline.
        """
        digest = _hash(source)
        if self._remote is not None:
            try:
                self._keep_remote(source, digest)
            except OSError as error:
                log.error("uploads.offline", extra={"data": {"reason": failure_reason(error)}})
                raise StoreOffline from None
        else:
            self._keep_local(source, digest)
        return digest

    def read(self, sha256: str) -> bytes:
        """Return the content. Raises FileNotFoundError, UploadDamaged where it does not match, ValueError on a wrong
        name."""
        if not _DIGEST.fullmatch(sha256):
            raise ValueError("not a SHA-256 in lower-case hex")
        if self._remote is not None:
            system, base = self._remote
            content = bytes(system.cat_file(f"{base}/{sha256[:2]}/{sha256}"))
        else:
            content = self._path(sha256).read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise UploadDamaged(sha256)
        return content

    def sweep(self, older_than_seconds: float = LEFT_BEHIND) -> int:
        """Remove what interrupted writes left behind; returns how many files that were."""
        if self._remote is not None or not self._root.is_dir():  # which is not made: its disk may be away
            return 0
        return sweep(self._root, older_than_seconds, named=f"{atomic_files.TEMPORARY}*")

    def _path(self, digest: str) -> Path:
        return self._root / digest[:2] / digest

    def _keep_local(self, source: Path | bytes, digest: str) -> None:
        target = self._path(digest)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_files.sync_directory(self._root)
            atomic_files.sync_directory(self._root.parent)
        if target.is_file() and _hash(target) == digest:
            atomic_files.sync_directory(target.parent)  # it may still be on its way to the disk in another process
        else:  # or it was damaged, and is replaced
            atomic_files.write(target, source)

    def _keep_remote(self, source: Path | bytes, digest: str) -> None:
        assert self._remote is not None
        system, base = self._remote
        target = f"{base}/{digest[:2]}/{digest}"
        if system.exists(target) and hashlib.sha256(system.cat_file(target)).hexdigest() == digest:
            return  # one that was cut off, which nobody has acknowledged, is replaced
        content = source if isinstance(source, bytes) else source.read_bytes()
        system.makedirs(f"{base}/{digest[:2]}", exist_ok=True)
        system.pipe_file(target, content)


def _hash(source: Path | bytes) -> str:
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
