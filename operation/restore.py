"""Restore from the replica: at a start on a disk that may be empty, and by hand, when files make way for others."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import make_url

from operation.litestream import Litestream
from operation.replica import AUDIT, DATABASE, LABELS, UPLOADS, Replica, ReplicaUnusable, unusable
from storage.database import Database, is_made
from storage.integrity import audit
from storage.integrity.audit import Head

RESTORED, NEW_BOARD = "service.restored", "board.begins"
_PROBE_BYTES = 1 << 16  # a full disk takes an empty file

log = logging.getLogger(__name__)


def sqlite_path(database_url: str) -> Path | None:
    """Return the file of a SQLite database; None for PostgreSQL."""
    url = make_url(database_url)
    return Path(url.database).absolute() if url.get_backend_name() == "sqlite" and url.database else None


def replicating_litestream(database_url: str, replica: Replica | None) -> Litestream | None:
    """Return Litestream where it copies: where there is a replica, and SQLite."""
    path = sqlite_path(database_url)
    return Litestream(path, replica) if replica is not None and path is not None else None


def prepare_database(database_url: str, replica: Replica | None, *, environ: Mapping[str, str]) -> bool:
    """Bring the database from the replica where it is missing; return whether it was brought.

    Raises ReplicaUnusable, and DatabaseAway or DatabaseUnusable of PostgreSQL.
    """
    path, litestream = sqlite_path(database_url), replicating_litestream(database_url, replica)
    if replica is not None:
        prove(replica, path)
    if _is_there(database_url, path):
        return False
    if litestream is not None and litestream.restore(environ):
        return True
    reason = "" if replica is None else _files_of_a_board(replica, sqlite=path is not None)
    # A process that begins a board beside this one writes to the replica after it has made the database.
    if reason and not _is_there(database_url, path):
        raise ReplicaUnusable(reason)
    looked_at = {"REPLICA_URL": "" if replica is None else replica.public_name}
    log.info(NEW_BOARD, extra={"data": {"reason": "no copy of a board is there", **looked_at}})
    return False


def record_restore(database: Database, replica: Replica) -> None:
    """Say in log and audit chain that the database came from the replica."""
    with database.write() as session:
        head = audit.head(session)
        audit.append(session, RESTORED, data={"from": "replica", "through": head.seq, "head": head.hash})
    log.warning(RESTORED, extra={"data": {"replica": replica.public_name, "through": head.seq}})


def prove(replica: Replica, database: Path | None) -> None:
    """Write a file and take it away. Raises ReplicaUnusable where the place cannot be used, or is no other disk."""
    directory = replica.directory
    mount = replica.mount or directory
    if mount is not None and not mount.is_dir():
        raise ReplicaUnusable(f"REPLICA_URL={mount} is not a directory. Mount or make it, then start again.")
    if directory is not None and database is not None and directory.resolve().is_relative_to(database.parent.resolve()):
        raise ReplicaUnusable(
            f"REPLICA_URL={directory} is inside DATA_DIR and would vanish with it. Name another disk."
        )
    try:
        replica.write(".probe", bytes(_PROBE_BYTES))
        replica.remove(".probe")
    except Exception as error:  # of whatever library
        raise unusable(replica.url, error=error) from None


def _is_there(database_url: str, path: Path | None) -> bool:
    return is_made(database_url) if path is None else path.exists() and path.stat().st_size > 0


def _files_of_a_board(replica: Replica, *, sqlite: bool) -> str:
    """Return that files of a board without a database are there, in words; "" where none are.

    Raises ReplicaUnusable where nobody can tell: a place may be away for a moment.
    """
    # Where Litestream has found no database, it may have left folders that it began with.
    folders = (UPLOADS, LABELS, AUDIT) if sqlite else (DATABASE, UPLOADS, LABELS, AUDIT)
    try:
        found = list(filter(replica.files, folders))
    except Exception as error:  # of whatever library
        raise unusable(replica.url, error=error) from None
    if not found:
        return ""
    return (
        f"There is no database, but REPLICA_URL={replica.public_name} holds {found[-1]} of one. No new board was made. "
        "Bring the database back (python -m maintenance restore), or name another REPLICA_URL to start an empty board."
    )


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
