"""Online backups of a SQLite database by its own API, in a directory or at an fsspec URL. PostgreSQL has pg_dump.

A copy holds votes, scores, decisions, snapshots and the whole audit chain. Labels are not in the database, and uploads
are not either: those directories are copied by other means (docs/maintaining.md).
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import logging
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import Database
from storage.files.object_store import open_store
from storage.integrity import audit
from storage.integrity.audit import Head
from storage.models.operations import Backup

MADE = "backup.made"
OTHERS = "backup.copies_of_another_database"
DAY, RETRY = 86_400.0, 3_600.0  # seconds: after a copy, and after one that failed or whose process died
_NAME = re.compile(r"leaderboard-\d{8}T\d{6}Z\.db\.gz")
_CHUNK = 1 << 20
_OTHERS_STAY = "They are not removed. Give each service a BACKUP_URL of its own, or remove them yourself."

log = logging.getLogger(__name__)


class BackupFailed(Exception):
    """The copy could not be made; the message says why."""


class BackupRecord(NamedTuple):
    """A copy that was made, or an attempt that failed. Instants are seconds since 1970, UTC."""

    name: str
    started_at: float
    finished_at: float | None
    size_bytes: int | None
    sha256: str | None
    chain_seq: int | None
    error: str | None


_RECORDED = tuple(getattr(Backup, name) for name in BackupRecord._fields)


@dataclass(frozen=True, slots=True)
class BackupTarget:
    """Destination of copies, and number to keep. `url`: a directory, or an fsspec URL such as s3://bucket/backups."""

    url: str
    keep: int


def make_if_due(database: Database, target: BackupTarget) -> BackupRecord | None:
    """Make the backup of the day, once over all workers. Raises BackupFailed, with the failure on record."""
    with database.read() as session:
        if not _due(session):
            return None
    with database.write() as session:
        audit.acquire_chain_lock(session)
        if not _due(session):
            return None
        number, name = _begin(session)
    return _make(database, target, number=number, name=name)


def make(database: Database, target: BackupTarget) -> BackupRecord:
    """Return one more copy, now. Raises BackupFailed, with the failure on record."""
    with database.write() as session:
        number, name = _begin(session)
    return _make(database, target, number=number, name=name)


def last(session: Session, *, whole: bool = True) -> BackupRecord | None:
    """Return the newest copy; with `whole` False the newest attempt that failed since then."""
    rows = select(*_RECORDED)
    newest = rows.order_by(Backup.started_at.desc()).limit(1)
    row = session.execute(newest.where(Backup.sha256.is_not(None) if whole else Backup.error.is_not(None))).first()
    return None if row is None else BackupRecord(*row)


def failures_since_last(session: Session) -> int:
    """Return how many attempts of the last day failed, or ended with their process, after the newest copy."""
    now = session.execute(select(database_now())).scalar_one()
    newest = session.execute(select(func.max(Backup.started_at)).where(Backup.sha256.is_not(None))).scalar_one()
    missing = or_(Backup.error.is_not(None), and_(Backup.sha256.is_(None), Backup.started_at < now - RETRY))
    since = max(now - DAY, newest or 0.0)
    return session.execute(select(func.count(Backup.id)).where(missing, Backup.started_at > since)).scalar_one()


def is_copy(name: str) -> bool:
    """Return whether a file of this name is a copy."""
    return _NAME.fullmatch(name) is not None


def _due(session: Session) -> bool:
    now = session.execute(select(database_now())).scalar_one()
    succeeded = select(Backup.id).where(Backup.sha256.is_not(None), Backup.started_at > now - DAY)
    tried = select(Backup.id).where(Backup.sha256.is_(None), Backup.started_at > now - RETRY)
    return all(session.execute(query.limit(1)).first() is None for query in (succeeded, tried))


def _begin(session: Session) -> tuple[int, str]:
    now = session.execute(select(database_now())).scalar_one()
    name = f"leaderboard-{datetime.fromtimestamp(int(now), UTC):%Y%m%dT%H%M%SZ}.db.gz"
    row = insert(Backup).values(name=name, started_at=now).returning(Backup.id)
    return int(session.execute(row).scalar_one()), name


def _make(database: Database, target: BackupTarget, *, number: int, name: str) -> BackupRecord:
    try:
        with tempfile.TemporaryDirectory(prefix="backup-") as directory:
            path = Path(directory) / name
            head = _copy(database, path)
            facts: dict[str, Any] = {"size_bytes": path.stat().st_size, "sha256": _hash(path)}
            with database.read() as session:
                own = set(session.scalars(select(Backup.name).where(Backup.id != number)))
            _store(path, target, own=own)
    except Exception as error:  # each store has errors of its own; whatever it was, maintainers must see it
        words = f"{type(error).__name__}: {error}"[:500]
        with database.write() as session:
            failed = {"finished_at": database_now(), "error": words}
            session.execute(update(Backup).where(Backup.id == number).values(**failed))
        raise BackupFailed(words) from error
    with database.write() as session:
        values: dict[str, Any] = {
            **facts,
            "finished_at": database_now(),
            "chain_seq": head.seq,
            "chain_hash": head.hash,
        }
        session.execute(update(Backup).where(Backup.id == number).values(**values))
        audit.append(session, MADE, data={"name": name, **facts, "through": head.seq})
        return BackupRecord(*session.execute(select(*_RECORDED).where(Backup.id == number)).one())


def _copy(database: Database, path: Path) -> Head:
    """Return a consistent copy beside running writers, compressed."""
    plain = path.with_name("copy.db")
    source = sqlite3.connect(str(database.engine.url.database))
    with contextlib.closing(source), contextlib.closing(sqlite3.connect(plain)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without -wal and -shm
        seq, digest = copy.execute("SELECT seq, hash FROM audit_head").fetchone()
    with plain.open("rb") as whole, gzip.open(path, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(whole, packed, _CHUNK)
    plain.unlink()
    return Head(seq, digest)


def _store(path: Path, target: BackupTarget, *, own: Collection[str]) -> None:
    """Put the copy where copies are kept, whole or not at all, and remove the oldest beyond those that stay.

    `own`: the names that this database has given to copies. Others may be all that is left of another database, or of
    a later state of this one: they are neither replaced nor removed.
    """
    if "://" not in target.url:
        _store_locally(path, Path(target.url), keep=target.keep, own=own)
        return
    system, base = open_store(target.url)
    system.makedirs(base, exist_ok=True)
    names = {name for path in system.ls(base, detail=False) if _NAME.fullmatch(name := path.rsplit("/", 1)[-1])}
    _require_free(path.name, names - set(own))
    system.put_file(str(path), f"{base}/{path.name}")
    for name in _outdated({*names, path.name}, {*own, path.name}, keep=target.keep):
        system.rm_file(f"{base}/{name}")


def _store_locally(path: Path, directory: Path, *, keep: int, own: Collection[str]) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = {path.name for path in directory.iterdir() if _NAME.fullmatch(path.name)}
    _require_free(path.name, names - set(own))
    handle, incoming = tempfile.mkstemp(prefix=".incoming-", dir=directory)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file, path.open("rb") as content:
            shutil.copyfileobj(content, file, _CHUNK)
            file.flush()
            os.fsync(file.fileno())
        Path(incoming).replace(directory / path.name)
    except BaseException:
        Path(incoming).unlink(missing_ok=True)
        raise
    for name in _outdated({*names, path.name}, {*own, path.name}, keep=keep):
        (directory / name).unlink(missing_ok=True)


def _require_free(name: str, others: Collection[str]) -> None:
    if name in others:
        raise FileExistsError(f"{name} is there already, and is a copy of another database")


def _outdated(names: Collection[str], own: Collection[str], *, keep: int) -> list[str]:
    """Return the oldest copies of this database beyond those that stay; warn of others."""
    if others := sorted(set(names) - set(own)):
        log.warning(OTHERS, extra={"data": {"copies": len(others), "newest": others[-1], "advice": _OTHERS_STAY}})
    return sorted(set(names) & set(own))[:-keep]


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
