"""Checks of an installation before and while it runs: disk, database, replica, files, programs."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from operation.mounts import NotLocal, require_local
from operation.replication.litestream import Litestream, ReplicaUnusable, RestoreFailed
from operation.replication.replica import Replica
from operation.replication.sealed_key import AT_RISK
from operation.replication.sealed_key import NAME as SEALED_KEY
from operation.start import prove, sqlite_path
from storage.database import DatabaseUnusable, open_migrated
from storage.integrity import audit, receipt_keys
from storage.integrity.key_place import KeyPlace
from vlrb.common.messages import _, joined

KEPT_FREE = 512 * 2**20
"""Bytes that stay free: below them no file is taken (web/middleware/request_limits.py)."""

_WAIT_SECONDS = 5.0
_CLIENT_PROGRAMS = ("pg_dump", "pg_restore")


class CheckResult(NamedTuple):
    """Result of one check; the sentence says what to do where it is not ok."""

    check: str
    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class InstallationFiles:
    """What is looked at."""

    state: Path
    database_url: str
    replica: Replica | None
    key_path: Path
    key_in_settings: bool
    variables: Mapping[str, str] = field(default_factory=dict)  # with the keys of the replica, for Litestream


def examine(installation: InstallationFiles) -> list[CheckResult]:
    """Return the findings of every check; a check that raises is a finding itself."""
    return [finding for check in _CHECKS for finding in _guarded(check, installation)]


def disk(state: Path) -> CheckResult:
    """Return whether files can be taken."""
    free = shutil.disk_usage(state).free
    words = _(
        "{free:,.0f} MB are free where {path} is; {kept_free} MB are kept free.",
        free=free / 2**20,
        path=state,
        kept_free=KEPT_FREE // 2**20,
    )
    return CheckResult(
        "disk",
        free > KEPT_FREE,
        sentence=words if free > KEPT_FREE else joined((words, _("Make room: uploads are refused.")), " "),
    )


def _guarded(
    check: Callable[[InstallationFiles], Iterator[CheckResult]], installation: InstallationFiles
) -> list[CheckResult]:
    try:
        return list(check(installation))
    except Exception as error:  # one check that fails must not hide the others
        return [
            CheckResult(
                check.__name__.strip("_"),
                False,
                sentence=_("It could not be checked ({name}: {error}).", name=type(error).__name__, error=error),
            )
        ]


def _disk(installation: InstallationFiles) -> Iterator[CheckResult]:
    if not installation.state.is_dir():
        path = installation.state
        if sqlite_path(installation.database_url) is None:
            words = _(
                "{path} is not a directory. Nothing on this disk is checked; set DATA_DIR where a process of the "
                "service runs.",
                path=path,
            )
            yield CheckResult("disk", True, sentence=words)
        else:
            words = _("{path} is not a directory. Has a service run with these settings?", path=path)
            yield CheckResult("disk", False, sentence=words)
        return
    yield disk(installation.state)
    try:
        require_local(installation.state)
    except NotLocal as error:
        yield CheckResult("file system", sqlite_path(installation.database_url) is None, sentence=str(error))


def _permissions(installation: InstallationFiles) -> Iterator[CheckResult]:
    paths = [sqlite_path(installation.database_url), installation.key_path]
    opened = [path for path in paths if path is not None and path.exists() and path.stat().st_mode & 0o077]
    words = ", ".join(f"chmod 600 {path}" for path in opened)
    yield CheckResult(
        "permissions", not opened, sentence=words or _("Database and key are readable by the service alone.")
    )


def _database(installation: InstallationFiles) -> Iterator[CheckResult]:
    path = sqlite_path(installation.database_url)
    if path is not None:
        if not path.exists():
            yield CheckResult(
                "database", False, sentence=_("{path} is missing. Start the service, or restore a copy.", path=path)
            )
            return
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
        yield CheckResult("database", answer == "ok", sentence=_("SQLite's own check says: {answer}.", answer=answer))
    try:
        database = open_migrated(installation.database_url, must_exist=True)
    except DatabaseUnusable as error:
        yield CheckResult("database", False, sentence=str(error))
        return
    try:
        with database.read() as session:
            broken, head = audit.verify(session), audit.head(session)
    finally:
        database.close()
    words = _("The chain holds through event {seq}.", seq=head.seq)
    yield CheckResult(
        "audit chain",
        broken is None,
        sentence=words if broken is None else _("It is broken at event {seq}.", seq=broken.seq),
    )


def _replica(installation: InstallationFiles) -> Iterator[CheckResult]:
    replica, path = installation.replica, sqlite_path(installation.database_url)
    if replica is None:
        words = _("REPLICA_URL is not set: this disk holds the only copy beside the daily one.")
        if path is None:
            words = _(
                "REPLICA_URL is not set: labels and keys, and uploads without UPLOADS_URL, are on the disks of the "
                "processes alone."
            )
        yield CheckResult("replica", True, sentence=words)
        return
    try:
        prove(replica, path)
    except ReplicaUnusable as error:
        yield CheckResult("replica", False, sentence=str(error))
        return
    if path is None:
        yield CheckResult(
            "replica", True, sentence=_("{public_name} can be written to.", public_name=replica.public_name)
        )
    else:
        position = Litestream(path, replica).sync(_WAIT_SECONDS)
        if position is None:
            words = _("Litestream does not answer. Is the service running? It copies only then.")
            if (reason := _why_not_restorable(replica, installation.variables)) is not None:
                words = joined((words, reason), " ")
        elif not position.covered:
            words = _(
                "The replica is {count} transactions behind. Can it be written to?",
                count=position.here - position.replicated,
            )
        else:
            words = _("{public_name} has every transaction.", public_name=replica.public_name)
        yield CheckResult("replica", position is not None and position.covered, sentence=words)


def _why_not_restorable(replica: Replica, environ: Mapping[str, str]) -> str | None:
    """Restore the database from the replica into a folder that vanishes; None where that is possible."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            if Litestream(Path(folder) / "leaderboard.db", replica).restore(environ):
                return None
        except RestoreFailed as failed:
            return _(
                "The database cannot be restored from {public_name} ({reason}). Keep the database on this disk, and "
                "name another REPLICA_URL: the next start copies everything there.",
                public_name=replica.public_name,
                reason=failed.reason,
            )
    return _("{public_name} has no copy of a database.", public_name=replica.public_name)


def _receipt_key(installation: InstallationFiles) -> Iterator[CheckResult]:
    """Take the web process at its word: it may run on another machine, with settings of its own."""
    if installation.replica is None:
        return
    with closing(open_migrated(installation.database_url, must_exist=True)) as database, database.read() as session:
        place = receipt_keys.place(session)
    if place is None:
        kept = installation.key_in_settings or installation.replica.read(SEALED_KEY) is not None
    else:
        kept = place != KeyPlace.DISK
    words = _("The receipt key outlives the web process's disk.")
    yield CheckResult("receipt key", kept, sentence=words if kept else AT_RISK)


def _programs(installation: InstallationFiles) -> Iterator[CheckResult]:
    if sqlite_path(installation.database_url) is None:
        missing = [name for name in _CLIENT_PROGRAMS if shutil.which(name) is None]
        words = _(
            "Install the PostgreSQL client programs ({names} missing), or set BACKUP_KEEP=0.", names=", ".join(missing)
        )
        yield CheckResult(
            "programs", not missing, sentence=words if missing else _("pg_dump and pg_restore are installed.")
        )


_CHECKS: Sequence[Callable[[InstallationFiles], Iterator[CheckResult]]] = (
    _disk,
    _permissions,
    _database,
    _replica,
    _receipt_key,
    _programs,
)
