"""Checks of an installation before and while it runs: disk, permissions, database, chain, replica, uploads."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from operation.replication.litestream import Litestream
from operation.replication.replica import Replica, ReplicaUnusable
from operation.restore import RestoreRefused, sqlite_head
from operation.start import prove, sqlite_path
from storage.database import DatabaseUnusable, open_migrated
from storage.files.uploads import UploadDamaged, Uploads
from storage.integrity import integrity_check
from storage.models.core import Submission

KEPT_FREE = 512 * 2**20
"""Bytes that stay free: below them no file is taken (web/middleware/request_limits.py)."""

_WAIT_SECONDS = 5.0
_NAMED = 20  # problems of uploads that are listed


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
    uploads: str  # where submitted files are
    variables: Mapping[str, str] = field(default_factory=dict)  # with the keys of the replica, for Litestream


def examine(installation: InstallationFiles) -> list[CheckResult]:
    """Return the findings of every check; a check that raises is a finding itself."""
    return [finding for check in _CHECKS for finding in _guarded(check, installation)]


def disk(state: Path) -> CheckResult:
    """Return whether files can be taken."""
    free = shutil.disk_usage(state).free
    words = f"{free / 2**20:,.0f} MB are free where {state} is; {KEPT_FREE // 2**20} MB are kept free."
    return CheckResult(
        "disk",
        free > KEPT_FREE,
        sentence=words if free > KEPT_FREE else f"{words} Make room: uploads are refused.",
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
                sentence=f"It could not be checked ({type(error).__name__}: {error}).",
            )
        ]


def _disk(installation: InstallationFiles) -> Iterator[CheckResult]:
    if not installation.state.is_dir():
        path = installation.state
        if sqlite_path(installation.database_url) is None:
            words = (
                f"{path} is not a directory. Nothing on this disk is checked; set DATA_DIR where a process of "
                "the service runs."
            )
            yield CheckResult("disk", True, sentence=words)
        else:
            words = f"{path} is not a directory. Has a service run with these settings?"
            yield CheckResult("disk", False, sentence=words)
        return
    yield disk(installation.state)


def _permissions(installation: InstallationFiles) -> Iterator[CheckResult]:
    paths = [sqlite_path(installation.database_url), installation.key_path]
    opened = [path for path in paths if path is not None and path.exists() and path.stat().st_mode & 0o077]
    words = ", ".join(f"chmod 600 {path}" for path in opened)
    yield CheckResult(
        "permissions", not opened, sentence=words or "Database and key are readable by the service alone."
    )


def _database(installation: InstallationFiles) -> Iterator[CheckResult]:
    path = sqlite_path(installation.database_url)
    if path is not None:
        if not path.exists():
            yield CheckResult("database", False, sentence=f"{path} is missing. Start the service, or restore a copy.")
            return
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
        yield CheckResult("database", answer == "ok", sentence=f"SQLite's own check says: {answer}.")
    try:
        database = open_migrated(installation.database_url, must_exist=True)
    except DatabaseUnusable as error:
        yield CheckResult("database", False, sentence=str(error))
        return
    try:
        with database.read() as session:
            found = integrity_check.verify(session)
    finally:
        database.close()
    yield CheckResult("audit chain", found.ok, sentence=found.sentence)


def _replica(installation: InstallationFiles) -> Iterator[CheckResult]:
    replica, path = installation.replica, sqlite_path(installation.database_url)
    if replica is None:
        words = "REPLICA_URL is not set: this disk holds the only copy."
        if path is None:
            words = "REPLICA_URL is not set: labels and uploads are on the disks of the processes alone."
        yield CheckResult("replica", True, sentence=words)
        return
    try:
        prove(replica, path)
        if path is None:
            words = f"{replica.public_name} can be written to."
            yield CheckResult("replica", True, sentence=words)
        else:
            yield _restored(Litestream(path, replica), installation.variables)
    except (ReplicaUnusable, RestoreRefused) as error:
        yield CheckResult("replica", False, sentence=str(error))


def _restored(litestream: Litestream, environ: Mapping[str, str]) -> CheckResult:
    """Restore the database into a folder that vanishes, and compare its head with that of this disk.

    It tells of a running and of a stopped service alike. Raises ReplicaUnusable and RestoreRefused.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "leaderboard.db"
        here = sqlite_head(litestream.database).seq if litestream.database.exists() else 0
        litestream.wait(_WAIT_SECONDS)  # a stopped service has copied everything at its end
        there = sqlite_head(copy).seq if litestream.restore(environ, output=copy) else 0
    words = (
        f"{litestream.replica.public_name} holds the database through event {there}; this disk through event {here}."
    )
    return CheckResult("replica", there >= here, sentence=words)


def _uploads(installation: InstallationFiles) -> Iterator[CheckResult]:
    """Read every stored file, and compare it with the hash that its submission holds."""
    uploads = Uploads(installation.uploads)
    with closing(open_migrated(installation.database_url, must_exist=True)) as database, database.read() as session:
        stored = session.execute(select(Submission.id, Submission.content_sha256)).all()
    problems = [sentence for row in stored if (sentence := _upload_problem(uploads, row.id, sha256=row.content_sha256))]
    words = " ".join(problems[:_NAMED]) if problems else "Every stored file is what its hash says."
    yield CheckResult("uploads", not problems, sentence=words)


def _upload_problem(uploads: Uploads, submission: str, *, sha256: str) -> str | None:
    try:
        uploads.read(sha256)
    except FileNotFoundError:
        return f"The upload of submission {submission} is missing."
    except UploadDamaged:
        return f"The upload of submission {submission} is damaged."
    return None


_CHECKS: Sequence[Callable[[InstallationFiles], Iterator[CheckResult]]] = (
    _disk,
    _permissions,
    _database,
    _replica,
    _uploads,
)
