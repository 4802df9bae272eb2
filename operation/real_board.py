"""A board with labels where a demo starts: LABELS left out by mistake must not show the demo in its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from operation.replication.contents import FILES_OF_A_SERVICE, holds
from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import DATABASE, Replica
from storage.files.object_store import failure_reason, public_address
from vlrb.common.messages import _


class FoundBoard(NamedTuple):
    """A board with labels. `setting`: what names its place. `advice`: which place that is, and what to do."""

    setting: str
    advice: str


@dataclass(frozen=True, slots=True)
class RealBoardPlaces:
    """Where the same settings with LABELS keep a board. None and "": that place is not looked at."""

    replica: Replica | None = None
    copies: str = ""
    database: Path | None = None

    def find(self) -> FoundBoard | None:
        """Return the board that one of the places holds; None where none does. Raises ReplicaUnusable."""
        if self.replica is not None and holds(self.replica, (DATABASE, *FILES_OF_A_SERVICE)):
            return _found_board("REPLICA_URL", self.replica.url)
        if self.copies and _has_copies(self.copies):
            return _found_board("BACKUP_URL", self.copies)
        if self.database is not None and self.database.exists() and self.database.stat().st_size > 0:
            advice = _(
                "LABELS is not set, which means the demo, and DATA_DIR={folder} holds a board. "
                "Set LABELS as it was, or name another DATA_DIR for the demo.",
                folder=self.database.parent,
            )
            return FoundBoard("DATA_DIR", advice)
        return None

    def alarm(self) -> FoundBoard | None:
        """Return the same for a demo that runs already; None too where a place cannot be read."""
        try:
            return self.find()
        except ReplicaUnusable:
            return None


def _found_board(name: str, url: str) -> FoundBoard:
    advice = _(
        "LABELS is not set, which means the demo, and {name}={place} holds a board. Set LABELS as it was, or name "
        "another {name} for the demo. If it is a demo of an earlier release, stop the service and move its files into "
        "demo/ there, but not database/ and service.json if demo/ has them.",
        name=name,
        place=public_address(url),
    )
    return FoundBoard(name, advice)


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
