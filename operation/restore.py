"""Database files that make way for a restored one, and the chain that it ends with."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from storage.integrity.audit import Head


class RestoreRefused(ValueError):
    """Nothing was restored; the message says why."""


def put_aside(database: Path) -> Path | None:
    """Rename a SQLite database and its files; return its new name. None where there is none."""
    if not database.exists():
        return None
    aside = database.with_name(f"{database.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    _rename(database, aside)
    shutil.rmtree(database.with_name(f".{database.name}-litestream"), ignore_errors=True)
    return aside


def put_back(aside: Path | None, database: Path) -> None:
    """Undo `put_aside`."""
    if aside is not None:
        _rename(aside, database)


def _rename(database: Path, name: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path = database.with_name(database.name + ending)
        if path.exists():
            path.rename(name.with_name(name.name + ending))


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
