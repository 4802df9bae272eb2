"""Start on a disk that may be empty: check the disk, restore from the replica, say so in the audit chain."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import make_url

from common.messages import _
from operation.litestream import Litestream, ReplicaUnusable
from operation.mounts import require_local
from operation.replica import AUDIT, EDITIONS, KEYS, LABELS, POOLS, UPLOADS, Replica
from storage.database import Database
from storage.integrity import audit

RESTORED = "service.restored"
_PROBE_BYTES = 1 << 16  # a full disk takes an empty file
_OF_A_SERVICE = (UPLOADS, LABELS, AUDIT, KEYS, POOLS, EDITIONS)

log = logging.getLogger(__name__)


def sqlite_path(database_url: str) -> Path | None:
    """Return the file of a SQLite database; None for PostgreSQL."""
    url = make_url(database_url)
    return Path(url.database).absolute() if url.get_backend_name() == "sqlite" and url.database else None


def prepare_database(database_url: str, replica: Replica | None, environ: Mapping[str, str]) -> bool:
    """Refuse a disk that SQLite cannot live on; bring the database from the replica where it is missing.

    Returns whether it was brought. Raises NotLocal, ReplicaUnusable.
    """
    path = sqlite_path(database_url)
    if path is not None:
        require_local(path.parent)
    if replica is None:
        return False
    prove(replica, path)
    if path is None or (path.exists() and path.stat().st_size > 0):
        return False
    path.unlink(missing_ok=True)
    restored = Litestream(path, replica).restore(environ)
    if not restored and any(replica.names(folder) for folder in _OF_A_SERVICE):
        raise ReplicaUnusable(
            _(
                "{public_name} holds files of a service but no copy of its database. No new board was "
                "made. Restore a copy (python -m maintenance restore), or name another REPLICA_URL to "
                "start an empty board.",
                public_name=replica.public_name,
            )
        )
    return restored


def record_restore(database: Database, replica: Replica) -> None:
    """Say in log and audit chain that the database came from the replica."""
    with database.write() as session:
        head = audit.head(session)
        audit.append(session, RESTORED, {"from": "replica", "through": head.seq, "head": head.hash})
    log.warning(RESTORED, extra={"data": {"replica": replica.public_name, "through": head.seq}})


def prove(replica: Replica, database: Path | None) -> None:
    """Write a file and take it away. Raises ReplicaUnusable where the place cannot be used, or is no other disk."""
    directory = replica.directory
    if directory is not None and not directory.is_dir():
        raise ReplicaUnusable(
            _("REPLICA_URL={directory} is no directory. Mount or make it, then start again.", directory=directory)
        )
    if directory is not None and database is not None and directory.resolve().is_relative_to(database.parent.resolve()):
        raise ReplicaUnusable(
            _(
                "REPLICA_URL={directory} is inside DATA_DIR and would vanish with it. Name another disk.",
                directory=directory,
            )
        )
    try:
        replica.write(".probe", bytes(_PROBE_BYTES))
        replica.remove(".probe")
    except Exception as error:  # of whatever library; its words may hold the address, and that a secret
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        raise ReplicaUnusable(
            _(
                "REPLICA_URL={public_name} cannot be written to ({why}). No board was opened. Check the "
                "address, its free space, and the keys in the environment (AWS_ACCESS_KEY_ID and so on).",
                public_name=replica.public_name,
                why=why,
            )
        ) from None
