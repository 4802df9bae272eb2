"""Claim on a replica: which process writes to it, and how far its database is in it.

Litestream writes to any replica, whatever is there. So a service that starts looks whether the replica is of its own
database, and one that runs looks whether another process has begun to write. The one that began last goes on.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy.orm import Session

from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import Replica
from storage.database import Database
from storage.integrity import audit
from storage.integrity.audit import Head
from vlrb.common.messages import _

NAME = "service.json"


def _process_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@dataclass(slots=True)
class ReplicaClaim:
    """The claim of this process. `known`: the head that it has stated."""

    replica: Replica
    database: Database
    writer: str = field(default_factory=_process_name)
    known: Head | None = None

    def head(self) -> Head:
        """Return the head of the chain on this disk."""
        with self.database.read() as session:
            return audit.head(session)

    def is_held(self) -> bool:
        """Return whether the replica has the claim of this process. Raises whatever the store raises."""
        stated = _stated(self.replica)
        return stated is not None and stated.writer == self.writer

    def is_lost(self) -> bool:
        """Return whether it had it and has not any more: another process writes there, or a folder was moved away,
        emptied or unmounted, and Litestream has made a new one in its place. Raises whatever the store raises.
        """
        return self.known is not None and not self.is_held()

    def state(self, head: Head) -> None:
        """Say that this process writes, and that the replica has everything through this event."""
        if head != self.known:
            content = json.dumps({"writer": self.writer, "seq": head.seq, "hash": head.hash})
            self.replica.write(NAME, content.encode())
            self.known = head


def require_same(replica: Replica, session: Session) -> None:
    """Raise ReplicaUnusable where the replica has events that this database has not."""
    if _missing_here(replica, session) is not None:
        raise ReplicaUnusable(
            _(
                "REPLICA_URL={public_name} holds another database: that of another service, or a later "
                "state of this one. Nothing was changed there. To keep the database on this disk, name a "
                "new REPLICA_URL (docs/operation.md, Restore). To take the one in the replica: python -m "
                "maintenance restore --replace",
                public_name=replica.public_name,
            )
        )


def require_whole(replica: Replica, session: Session) -> None:
    """Raise ReplicaUnusable where the database that came from the replica lacks events that were there."""
    missing = _missing_here(replica, session)
    if missing is not None:
        raise ReplicaUnusable(
            _(
                "The replica at {public_name} held every event through {seq}, and now it ends with {last}: "
                "files are missing there. No board was opened. Bring them back, or restore a daily copy "
                "(python -m maintenance restore COPY); to accept the loss, remove {name} there.",
                public_name=replica.public_name,
                seq=missing.seq,
                last=audit.head(session).seq,
                name=NAME,
            )
        )


def _missing_here(replica: Replica, session: Session) -> Head | None:
    """Return the head that the replica has been said to hold, where this database lacks it."""
    stated = _stated(replica)
    if stated is None or not stated.head.seq:
        return None
    here = next(audit.links(session, after=stated.head.seq - 1, limit=1), None)
    return None if here is not None and here.hash == stated.head.hash else stated.head


class _Stated(NamedTuple):
    writer: str
    head: Head


def _stated(replica: Replica) -> _Stated | None:
    content = replica.read(NAME)
    try:
        stated = json.loads(content or b"null")
        return _Stated(str(stated["writer"]), Head(int(stated["seq"]), str(stated["hash"])))
    except (ValueError, KeyError, TypeError):
        return None  # nothing that a service has written
