"""Start on a disk that may be empty: check the disk, restore from the replica, say so in the audit chain."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlalchemy import make_url

from operation.mounts import require_local
from operation.real_board import RealBoardPlaces
from operation.replication.contents import FILES_OF_A_SERVICE, holds
from operation.replication.litestream import Litestream, ReplicaUnusable
from operation.replication.replica import DATABASE, Replica
from operation.restore import copy_names
from storage.database import Database, DatabaseAway, is_made
from storage.files.object_store import failure_reason, public_address
from storage.integrity import audit
from vlrb.common.messages import _

RESTORED, NEW_BOARD = "service.restored", "board.begins"
_PROBE_BYTES = 1 << 16  # a full disk takes an empty file

log = logging.getLogger(__name__)


class StartRefused(Exception):
    """There is no database, though there are files of one; the message says what to do."""


def sqlite_path(database_url: str) -> Path | None:
    """Return the file of a SQLite database; None for PostgreSQL."""
    url = make_url(database_url)
    return Path(url.database).absolute() if url.get_backend_name() == "sqlite" and url.database else None


def prepare_database(
    database_url: str,
    replica: Replica | None,
    *,
    environ: Mapping[str, str],
    copies: str = "",
    real: RealBoardPlaces | None = None,
) -> bool:
    """Refuse a disk that SQLite cannot live on; bring the database from the replica where it is missing.

    `copies`: where daily copies go. `real`: where a board with labels would be, beside which no demo begins.
    Returns whether the database was brought.
    Raises NotLocal, ReplicaUnusable, StartRefused, and DatabaseAway or DatabaseUnusable of PostgreSQL.
    """
    path = sqlite_path(database_url)
    if path is not None:
        require_local(path.parent)
    if replica is not None:
        prove(replica, path)
    if _is_there(database_url, path):
        return False
    if path is not None and replica is not None and Litestream(path, replica).restore(environ):
        return True
    _refuse_new_board(database_url, replica, copies=copies, real=real)
    return False


def require_database_or_new_board(
    database_url: str, replica: Replica | None, *, copies: str = "", real: RealBoardPlaces | None = None
) -> None:
    """Refuse to make a database where a replica or copies hold one: for processes that restore none, as workers.

    Raises StartRefused and ReplicaUnusable; DatabaseAway until a web process has restored it; and DatabaseAway or
    DatabaseUnusable of PostgreSQL.
    """
    path = sqlite_path(database_url)
    if _is_there(database_url, path):
        return
    if replica is not None:
        prove(replica, path)  # what is not mounted looks empty
    if path is not None and replica is not None and holds(replica, (DATABASE,)):
        raise DatabaseAway(
            _(
                "There is no database yet, and {public_name} holds one. Start the web process, which restores it.",
                public_name=replica.public_name,
            )
        )
    _refuse_new_board(database_url, replica, copies=copies, real=real)


def _refuse_new_board(database_url: str, replica: Replica | None, *, copies: str, real: RealBoardPlaces | None) -> None:
    """Raise StartRefused where something holds files of a service, and ReplicaUnusable; else say that a new board
    begins: a place that is not mounted looks empty."""
    path = sqlite_path(database_url)
    # A replica of SQLite that Litestream has found empty may hold folders that it had begun with.
    folders = FILES_OF_A_SERVICE if path is not None else (DATABASE, *FILES_OF_A_SERVICE)
    reason = _files_without_database(replica, folders) or _copies_without_database(copies)
    if not reason and real is not None and (real_board := real.find()) is not None:
        reason = real_board.advice
    # A process that begins a board beside this one writes to the replica after it has made the database.
    if _is_there(database_url, path):
        return
    if reason:
        raise StartRefused(reason)
    looked_at = {"REPLICA_URL": "" if replica is None else replica.public_name, "BACKUP_URL": public_address(copies)}
    log.info(NEW_BOARD, extra={"data": {"reason": "no copy of a board is there", **looked_at}})


def _is_there(database_url: str, path: Path | None) -> bool:
    return is_made(database_url) if path is None else path.exists() and path.stat().st_size > 0


def _files_without_database(replica: Replica | None, folders: Iterable[str]) -> str:
    """Return that the replica holds files and no database, in words; "" if it does not. Raises ReplicaUnusable."""
    if replica is None or not holds(replica, folders):
        return ""
    return _(
        "{public_name} holds files of a service but no copy of its database. No new board was "
        "made. Restore a copy (python -m maintenance restore), or name another REPLICA_URL to "
        "start an empty board.",
        public_name=replica.public_name,
    )


def _copies_without_database(copies: str) -> str:
    """Return that there are copies of a database; "" where there are none. Raises ReplicaUnusable where nobody can
    tell: the place may be away for a moment."""
    place = public_address(copies)
    try:
        names = copy_names(copies) if copies else []
    except Exception as error:  # of whatever library; its words may hold the address, and that a secret
        raise ReplicaUnusable(
            _(
                "There is no database yet, and BACKUP_URL={place} cannot be read ({why}). No new board was made, "
                "because copies of one may be there. Check the address and the keys in the environment; to start an "
                "empty board, leave BACKUP_URL out or name another.",
                place=place,
                why=failure_reason(error),
            )
        ) from None
    if not names:
        return ""
    return _(
        "There is no database, but BACKUP_URL={place} holds copies of one (newest: {newest}). No new board was made. "
        "Restore the newest (python -m maintenance restore), or name another BACKUP_URL to start an empty board.",
        place=place,
        newest=names[-1],
    )


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
        raise ReplicaUnusable(
            _("REPLICA_URL={directory} is not a directory. Mount or make it, then start again.", directory=mount)
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
        place, why = public_address(replica.url), failure_reason(error)
        raise ReplicaUnusable(
            _(
                "REPLICA_URL={public_name} cannot be written to ({why}). No board was opened. Check the "
                "address, its free space, and the keys in the environment (AWS_ACCESS_KEY_ID and so on).",
                public_name=place,
                why=why,
            )
        ) from None
