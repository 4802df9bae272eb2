"""Restore of a daily copy: the database comes whole or not at all, readable by the service alone."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import make_url

from storage.files.backups import is_copy
from storage.files.object_store import address_below, open_store
from storage.integrity.audit import Head
from vlrb.common import atomic_files

_CHUNK = 1 << 20
_SIDECARS = ("-wal", "-shm")


class RestoreRefused(ValueError):
    """Nothing was restored; the message says why."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and the chain's head in it. `aside`: where the database before it is."""

    source: str
    head: Head
    aside: Path | None = None


def copy_names(place: str) -> list[str]:
    """Return the names of the copies in a directory or at an fsspec URL, the newest last. Raises what it raises."""
    if "://" not in place:
        folder = Path(place)
        names = [path.name for path in folder.iterdir()] if folder.exists() else []
    else:
        system, base = open_store(place)
        try:
            names = [name.rpartition("/")[2] for name in system.ls(base, detail=False)]
        except FileNotFoundError:
            names = []
    return sorted(filter(is_copy, names))


def newest_copy(place: str) -> str:
    """Return the address of the newest copy in a directory or at an fsspec URL. Raises RestoreRefused."""
    copies = copy_names(place)
    if not copies:
        raise RestoreRefused(f"There is no copy of a database in {place}. Name one: restore COPY.")
    return address_below(place, copies[-1])


def restore_copy(source: str, database_url: str, *, replace: bool = False) -> Restored:
    """Restore a copy (path or URL) as the database of the settings.

    `replace`: a SQLite database that is there is put aside first. Raises RestoreRefused.
    """
    url = make_url(database_url)
    if url.get_backend_name() != "sqlite":
        raise RestoreRefused(f"{source} is a copy of SQLite, and DATABASE_URL names PostgreSQL: use its pg_restore.")
    with _fetched(source) as path:
        return _restore_sqlite(source, path, database=Path(url.database or "").absolute(), replace=replace)


def put_aside(database: Path) -> Path | None:
    """Rename a SQLite database and its files; return its new name. None where there is none."""
    if not database.exists():
        return None
    aside = database.with_name(f"{database.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    for ending in ("", *_SIDECARS):
        path = database.with_name(database.name + ending)
        if path.exists():
            path.rename(aside.with_name(aside.name + ending))
    shutil.rmtree(database.with_name(f".{database.name}-litestream"), ignore_errors=True)
    return aside


def put_back(aside: Path | None, database: Path) -> None:
    """Undo `put_aside`."""
    if aside is None:
        return
    for ending in ("", *_SIDECARS):
        path = aside.with_name(aside.name + ending)
        if path.exists():
            path.rename(database.with_name(database.name + ending))


def sqlite_head(database: Path) -> Head:
    """Return the chain's head. Raises RestoreRefused where the file is damaged, or is no database of a service."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            answer = connection.execute("PRAGMA quick_check").fetchone()[0]
            seq, digest = connection.execute("SELECT seq, hash FROM audit_head").fetchone()
    except (sqlite3.DatabaseError, TypeError) as error:
        raise RestoreRefused(f"{database.name} is not a complete database of a service ({error}).") from None
    if answer != "ok":
        raise RestoreRefused(f"{database.name} is damaged ({answer}). Take another copy.")
    return Head(seq, digest)


def _restore_sqlite(source: str, copy: Path, *, database: Path, replace: bool) -> Restored:
    if database.exists() and not replace:
        raise RestoreRefused(f"{database} is there already. Stop the service, then use --replace to put it aside.")
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    incoming = database.with_name(f".{database.name}.restoring")
    try:
        with gzip.open(copy, "rb") as content, incoming.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            shutil.copyfileobj(content, file, _CHUNK)
            file.flush()
            os.fsync(file.fileno())
        head = sqlite_head(incoming)
        aside = put_aside(database)
        incoming.replace(database)
        atomic_files.sync_directory(database.parent)
    except (OSError, EOFError) as error:
        raise RestoreRefused(f"{source} cannot be restored ({error}). Nothing has changed.") from None
    finally:
        for ending in ("", *_SIDECARS):
            incoming.with_name(incoming.name + ending).unlink(missing_ok=True)
    return Restored(source, head, aside=aside)


@contextmanager
def _fetched(source: str) -> Iterator[Path]:
    """Provide the copy as a local file."""
    if "://" not in source:
        if not Path(source).is_file():
            raise RestoreRefused(f"{source} is not a file.")
        yield Path(source)
        return
    with tempfile.TemporaryDirectory(prefix="restore-") as folder:
        path = Path(folder) / "copy"
        system, name = open_store(source)
        system.get_file(name, str(path))
        yield path
