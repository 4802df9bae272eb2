"""Commands on an installation whose database may be missing: restore, doctor."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from maintenance.doctor import examine
from operation.replication.replica import ReplicaUnusable
from operation.restore import RestoreRefused, put_aside, put_back, sqlite_head
from operation.start import prove, replicating_litestream
from settings import WorkerSettings
from vlrb.common.command_line import complain, say


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
    result = examine(WorkerSettings.from_env(os.environ), os.environ)
    if options.json:
        print(json.dumps([finding._asdict() for finding in result], indent=1))
    else:
        for finding in result:
            mark = "ok   " if finding.ok else "ALARM"
            say(f"{mark}  {finding.check}: {finding.sentence}")
    return 0 if all(finding.ok for finding in result) else 1
