"""Commands on an installation whose database may be missing: restore, and doctor with its checks."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from operation.alarms import KEPT_FREE
from operation.litestream import Litestream
from operation.replica import UPLOADS, ReplicaUnusable
from operation.restore import (
    RestoreRefused,
    prove,
    put_aside,
    put_back,
    replicating_litestream,
    sqlite_head,
    sqlite_path,
)
from settings import WorkerSettings
from storage.database import DatabaseUnusable, open_migrated
from storage.files.uploads import UploadDamaged, Uploads
from storage.integrity import integrity_check
from storage.models.core import Submission
from vlrb.common.command_line import complain, say

_WAIT_SECONDS = 5.0
_NAMED = 20  # problems of uploads that are listed


class CheckResult(NamedTuple):
    """Result of one check; the sentence says what to do where it is not ok."""

    check: str
    ok: bool
    sentence: str


def add_commands(commands: Any) -> None:
    """Add the commands to an argparse subparsers object; each sets `files`."""
    restore = commands.add_parser("restore", help="bring the database back from REPLICA_URL")
    restore.add_argument("--replace", action="store_true", help="put the database that is there aside")
    restore.set_defaults(command=None, files=_restore)
    doctor = commands.add_parser(
        "doctor", help="check disk, permissions, database, chain, replica and uploads; exit 1 names what to do"
    )
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(command=None, files=_doctor)


def _restore(options: argparse.Namespace) -> int:
    try:
        _bring(WorkerSettings.from_env(os.environ), replace=options.replace)
    except (RestoreRefused, ReplicaUnusable) as error:
        complain(f"maintenance: {error}")
        return 1
    return 0


def _bring(settings: WorkerSettings, *, replace: bool) -> None:
    litestream = replicating_litestream(settings.database_url, settings.replica)
    if litestream is None:
        raise RestoreRefused("REPLICA_URL names no place, or DATABASE_URL a server, whose copies are its own.")
    path, replica = litestream.database, litestream.replica
    if path.exists() and not replace:
        raise RestoreRefused(f"{path} is there already. Stop the service, then use --replace to put it aside.")
    prove(replica, path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = put_aside(path)
    try:
        if not litestream.restore(os.environ):
            raise RestoreRefused(f"{replica.public_name} has no copy of a database.")
    except (ReplicaUnusable, RestoreRefused):
        put_back(aside, path)
        raise
    head = sqlite_head(path)
    say(f"Restored {replica.public_name}: the chain ends with event {head.seq}, {head.hash}.")
    if aside is not None:
        say(f"The database that was there is {aside}.")
    say(
        f"Heads that were published after event {head.seq} are newer than this copy: audit verify --head says so and "
        "exits 1. Check with the newest head from before. Then say in public from which event on the chain begins anew."
    )


def _doctor(options: argparse.Namespace) -> int:
    result = examine(WorkerSettings.from_env(os.environ))
    if options.json:
        print(json.dumps([finding._asdict() for finding in result], indent=1))
    else:
        for finding in result:
            mark = "ok   " if finding.ok else "ALARM"
            say(f"{mark}  {finding.check}: {finding.sentence}")
    return 0 if all(finding.ok for finding in result) else 1


Check = Callable[[WorkerSettings], Iterator[tuple[bool, str]]]
"""Yields whether all is well, and a sentence; nothing where there is nothing to check."""


def examine(settings: WorkerSettings) -> list[CheckResult]:
    """Return the findings of every check; a check that raises is a finding itself."""
    return [CheckResult(name, *finding) for name, check in _CHECKS.items() for finding in _guarded(check, settings)]


def _guarded(check: Check, settings: WorkerSettings) -> list[tuple[bool, str]]:
    try:
        return list(check(settings))
    except Exception as error:  # one check that fails must not hide the others
        return [(False, f"It could not be checked ({type(error).__name__}: {error}).")]


def _disk(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    state = settings.state_dir
    if state.is_dir():
        free = shutil.disk_usage(state).free
        words = f"{free / 2**20:,.0f} MB are free where {state} is; {KEPT_FREE // 2**20} MB are kept free."
        yield free > KEPT_FREE, words if free > KEPT_FREE else f"{words} Make room: uploads are refused."
    elif sqlite_path(settings.database_url) is None:
        remedy = "Nothing on this disk is checked; set DATA_DIR where a process of the service runs."
        yield True, f"{state} is not a directory. {remedy}"
    else:
        yield False, f"{state} is not a directory. Has a service run with these settings?"


def _permissions(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    paths = [sqlite_path(settings.database_url), settings.state_dir / "keys" / "receipt.key"]
    opened = [path for path in paths if path is not None and path.exists() and path.stat().st_mode & 0o077]
    words = ", ".join(f"chmod 600 {path}" for path in opened)
    yield not opened, words or "Database and key are readable by the service alone."


def _database(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    path = sqlite_path(settings.database_url)
    if path is None:
        return
    if not path.exists():
        yield False, f"{path} is missing. Start the service, or restore a copy."
        return
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    yield answer == "ok", f"SQLite's own check says: {answer}."


def _chain(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        return
    try:
        database = open_migrated(settings.database_url, must_exist=True)
    except DatabaseUnusable as error:
        yield False, str(error)
        return
    with closing(database), database.read() as session:
        found = integrity_check.verify(session)
    yield found.ok, found.sentence


def _replica(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    replica, path = settings.replica, sqlite_path(settings.database_url)
    if replica is None:
        only = "this disk holds the only copy" if path else "labels and uploads are on the disks of the processes alone"
        yield True, f"REPLICA_URL is not set: {only}."
        return
    try:
        prove(replica, path)
        if path is None:
            yield True, f"{replica.public_name} can be written to."
        else:
            yield _restored(Litestream(path, replica))
    except (ReplicaUnusable, RestoreRefused) as error:
        yield False, str(error)


def _restored(litestream: Litestream) -> tuple[bool, str]:
    """Restore the database into a folder that vanishes, and compare its head with that of this disk.

    It tells of a running and of a stopped service alike. Raises ReplicaUnusable and RestoreRefused.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "leaderboard.db"
        here = sqlite_head(litestream.database).seq if litestream.database.exists() else 0
        litestream.wait(_WAIT_SECONDS)  # a stopped service has copied everything at its end
        there = sqlite_head(copy).seq if litestream.restore(os.environ, output=copy) else 0
    name = litestream.replica.public_name
    return there >= here, f"{name} holds the database through event {there}; this disk through event {here}."


def _uploads(settings: WorkerSettings) -> Iterator[tuple[bool, str]]:
    """Read every stored file, and compare it with the hash that its submission holds."""
    replica = settings.replica
    uploads = Uploads(str(settings.state_dir / UPLOADS) if replica is None else replica.below(UPLOADS))
    with closing(open_migrated(settings.database_url, must_exist=True)) as database, database.read() as session:
        stored = session.execute(select(Submission.id, Submission.content_sha256)).all()
    problems = [sentence for row in stored if (sentence := _upload_problem(uploads, row.id, sha256=row.content_sha256))]
    yield not problems, " ".join(problems[:_NAMED]) or "Every stored file is what its hash says."


def _upload_problem(uploads: Uploads, submission: str, *, sha256: str) -> str | None:
    try:
        uploads.read(sha256)
    except FileNotFoundError:
        return f"The upload of submission {submission} is missing."
    except UploadDamaged:
        return f"The upload of submission {submission} is damaged."
    return None


_CHECKS: Mapping[str, Check] = {
    "disk": _disk,
    "permissions": _permissions,
    "database": _database,
    "audit chain": _chain,
    "replica": _replica,
    "uploads": _uploads,
}
