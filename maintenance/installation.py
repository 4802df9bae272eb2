"""Commands on an installation whose database may be missing: restore, doctor."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from operation.doctor import InstallationFiles, examine
from operation.replication.litestream import Litestream, ReplicaUnusable
from operation.restore import Restored, RestoreRefused, newest_copy, put_aside, put_back, restore_copy, sqlite_head
from operation.start import prove, sqlite_path
from settings import WorkerSettings
from vlrb.common.command_line import complain, say, translated
from vlrb.common.messages import _

_KEY = "receipt.key"


def add_commands(commands: Any) -> None:
    """Add the commands to an argparse subparsers object; each sets `files`."""
    restore = commands.add_parser("restore", help=_("bring the database back: from REPLICA_URL, or from a daily copy"))
    restore.add_argument(
        "copy", nargs="?", help=_("path or URL of a copy; left out: REPLICA_URL, else the newest copy")
    )
    restore.add_argument("--replace", action="store_true", help=_("put the database that is there aside"))
    restore.set_defaults(command=None, files=_restore)
    doctor = commands.add_parser(
        "doctor", help=_("check disk, database, replica and programs; exit 1 names what to do")
    )
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(command=None, files=_doctor)


def _restore(options: argparse.Namespace) -> int:
    settings = WorkerSettings.from_env(os.environ)
    try:
        restored = _bring(settings, options.copy, replace=options.replace)
    except (RestoreRefused, ReplicaUnusable) as error:
        complain(_("maintenance: {error}", error=translated(str(error))))
        return 1
    say(
        _(
            "Restored {source}: the chain ends with event {seq}, {hash}.",
            source=restored.source,
            seq=restored.head.seq,
            hash=restored.head.hash,
        )
    )
    if restored.aside is not None:
        say(_("The database that was there is {aside}.", aside=restored.aside))
    say(
        _(
            "Heads that were published after event {seq} are newer than this copy: audit verify --head says so and "
            "exits 1. Check with the newest head from before. Then say in public from which event on the chain begins "
            "anew.",
            seq=restored.head.seq,
        )
    )
    if settings.replica is not None and options.copy and sqlite_path(settings.database_url) is not None:
        say(
            _(
                "Before you start the service, copy everything but database/ and service.json from {old} to a new "
                "place, and name that as REPLICA_URL: files and labels are there alone, and the database there holds "
                "later transactions.",
                old=settings.replica.public_name,
            )
        )
    return 0


def _bring(settings: WorkerSettings, copy: str | None, *, replace: bool) -> Restored:
    path, replica = sqlite_path(settings.database_url), settings.replica
    if copy is not None or replica is None or path is None:
        return restore_copy(copy or newest_copy(settings.backup_url), settings.database_url, replace=replace)
    if path.exists() and not replace:
        raise RestoreRefused(
            _("{path} is there already. Stop the service, then use --replace to put it aside.", path=path)
        )
    prove(replica, path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = put_aside(path)
    try:
        restored = Litestream(path, replica).restore(os.environ)
    except ReplicaUnusable:
        put_back(aside, path)
        raise
    if not restored:
        put_back(aside, path)
        raise RestoreRefused(_("{public_name} has no copy of a database.", public_name=replica.public_name))
    return Restored(replica.public_name, sqlite_head(path), aside=aside)


def _doctor(options: argparse.Namespace) -> int:
    settings = WorkerSettings.from_env(os.environ)
    key = settings.state_dir / "keys" / _KEY
    given = bool(os.environ.get("RECEIPT_KEY", "").strip())
    files = InstallationFiles(
        settings.state_dir,
        settings.database_url,
        replica=settings.replica,
        key_path=Path(key),
        key_in_settings=given,
        variables=os.environ,
    )
    result = examine(files)
    if options.json:
        print(json.dumps([finding._asdict() for finding in result], indent=1))
    else:
        for finding in result:
            mark = _("ok   ") if finding.ok else _("ALARM")
            say(_("{mark}  {check}: {sentence}", mark=mark, check=_(finding.check), sentence=_(finding.sentence)))
    return 0 if all(finding.ok for finding in result) else 1
