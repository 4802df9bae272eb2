"""A board with labels where a demo starts: LABELS left out by mistake must not show the demo in its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from common.messages import _
from operation.replication.contents import FILES_OF_A_SERVICE, holds
from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import DATABASE, Replica
from storage.files.object_store import failure_reason, public_address


@dataclass(frozen=True, slots=True)
class RealBoardPlaces:
    """Where the same settings with LABELS keep a board. None and "": that place is not looked at."""

    replica: Replica | None = None
    copies: str = ""
    database: Path | None = None

    def advice(self) -> str:
        """Return which place holds a board, and what to do; "" where none does. Raises ReplicaUnusable."""
        if self.replica is not None and holds(self.replica, (DATABASE, *FILES_OF_A_SERVICE)):
            return _advice("REPLICA_URL", self.replica.url)
        if self.copies and _has_copies(self.copies):
            return _advice("BACKUP_URL", self.copies)
        if self.database is not None and self.database.exists() and self.database.stat().st_size > 0:
            return _(
                "LABELS is not set, which means the demo, and DATA_DIR={folder} holds a board. "
                "Set LABELS as it was, or name another DATA_DIR for the demo.",
                folder=self.database.parent,
            )
        return ""

    def alarm(self) -> str:
        """Return the same for a demo that runs already; "" too where a place cannot be read."""
        try:
            return self.advice()
        except ReplicaUnusable:
            return ""


def _advice(name: str, url: str) -> str:
    return _(
        "LABELS is not set, which means the demo, and {name}={place} holds a board. Set LABELS as it was, or name "
        "another {name} for the demo. If it is a demo of an earlier release, stop the service and move its files into "
        "demo/ there, but not database/ and service.json if demo/ has them.",
        name=name,
        place=public_address(url),
    )


def _has_copies(place: str) -> bool:
    from operation.restore import copy_names  # settings are read by commands that load no database library

    try:
        return bool(copy_names(place))
    except Exception as error:  # of whatever library; its words may hold the address, and that a secret
        raise ReplicaUnusable(
            _(
                "BACKUP_URL={place} cannot be listed ({why}). No board was opened. Check the address, and what the "
                "keys in the environment may do.",
                place=public_address(place),
                why=failure_reason(error),
            )
        ) from None
