"""Contents of a replica, told by its folders."""

from __future__ import annotations

from collections.abc import Iterable

from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import AUDIT, LABELS, UPLOADS, Replica
from storage.files.object_store import failure_reason, public_address
from vlrb.common.messages import _

FILES_OF_A_SERVICE = (UPLOADS, LABELS, AUDIT)
"""Folders besides the database. A key alone is what a start leaves that ended early."""


def holds(replica: Replica, folders: Iterable[str]) -> bool:
    """Return whether one of the folders has something in it. Raises ReplicaUnusable."""
    try:
        return any(replica.names(folder) for folder in folders)
    except Exception as error:  # of whatever library; its words may hold the address, and that a secret
        raise unreadable(replica, error) from None


def unreadable(replica: Replica, error: Exception) -> ReplicaUnusable:
    """Return what to raise where a replica cannot be read: its address, the reason, and what to do."""
    return ReplicaUnusable(
        _(
            "REPLICA_URL={public_name} cannot be listed ({why}). No board was opened. Check the address, and what "
            "the keys in the environment may do.",
            public_name=public_address(replica.url),
            why=failure_reason(error),
        )
    )
