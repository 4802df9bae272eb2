"""What the public pages read from the database: the current snapshot, and whether a worker is alive. Nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from leaderboard.disclosure import disclosed
from leaderboard.site import Pointer
from storage import audit, label_imports, label_sets, presence, snapshots, switches
from storage.clock import iso
from storage.database import Database
from storage.maintenance_tables import Moderation
from storage.snapshots import snapshot_as_of
from storage.tables import Snapshot

_TURNED = ("rescore.applied", "rescore.undone", "board.pointed")  # what makes the board show other labels
OFFLINE_AFTER = 30.0  # seconds without a heartbeat until scores count as delayed


class DatabaseSnapshots:
    """A ``leaderboard.site.SnapshotSource`` over the service's database."""

    def __init__(
        self, database: Database, *, hidden_labels: frozenset[str] = frozenset(), offline_after: float = OFFLINE_AFTER
    ) -> None:
        """``hidden_labels``: configured label revisions that are not public, beside those imported as such.
        ``offline_after``: seconds of silence until visitors are told."""
        self._database = database
        self._hidden_labels = hidden_labels
        self._offline_after = offline_after
        self._absent_since: float | None = None

    def pointer(self) -> Pointer:
        """Three reads of one row each."""
        with self._database.read() as session:
            current = label_sets.current(session)
            seen = presence.last_seen(session)
            paused = switches.message(session)
        return Pointer(current.snapshot_id if current else None, self._delayed_since(seen), paused)

    def load(self, snapshot_id: str) -> Mapping[str, Any]:
        """The facts of a snapshot, without the entries that are hidden now (nothing of those is public), and of label
        sets that are not public only what their disclosure allows.

        Raises:
            LookupError: there is no such snapshot.
        """
        with self._database.read() as session:
            found = session.get(Snapshot, snapshot_id)
            if found is None:
                raise LookupError(f"no snapshot {snapshot_id}")
            body = found.body
            hidden = set(session.scalars(select(Moderation.submission_id).where(Moderation.hidden_at.is_not(None))))
            secret = self._hidden_labels | label_imports.hidden(session)
            turned = _last_turn(session, found.through_seq)
        snapshot = {**disclosed(orjson.loads(zlib.decompress(body)), secret), "turned": turned}
        snapshot["entries"] = [entry for entry in snapshot["entries"] if entry["id"] not in hidden]
        # A stub may be older than the decision to hide the entry, or lead to one that is hidden.
        stubs = snapshot.get("stubs", ())
        snapshot["stubs"] = [one for one in stubs if not {one["id"], one.get("merged_into")} & hidden]
        return snapshot

    def find(self, when: str) -> str | None:
        """As ``storage.snapshots.snapshot_as_of``."""
        with self._database.read() as session:
            return snapshot_as_of(session, when)

    def relations(self, relations_id: str) -> bytes | None:
        """Stored relations by their id, for benchmark.relations.unpack."""
        with self._database.read() as session:
            return snapshots.relations_body(session, relations_id)

    def _delayed_since(self, seen: presence.Seen | None) -> datetime | None:
        if seen is not None:
            self._absent_since = None
            late = seen.seconds_ago > self._offline_after
            return datetime.fromtimestamp(int(seen.heartbeat_at), UTC) if late else None
        # A worker that stopped in order left no trace: count from when that was noticed.
        now = datetime.now(UTC).timestamp()
        self._absent_since = self._absent_since or now
        late = now - self._absent_since > self._offline_after
        return datetime.fromtimestamp(int(self._absent_since), UTC) if late else None


def _last_turn(session: Session, through: int) -> dict[str, Any] | None:
    """The last decision, up to an audit event, that made the board show other labels; None where there was none."""
    found = next(iter(audit.newest(session, _TURNED, before=through + 1, limit=1)), None)
    if found is None:
        return None
    before, after = ((found.body[side] or {}).get("label_revision") for side in ("from", "to"))
    turn = {"seq": found.seq, "at": iso(found.at), "from": before, "to": after}
    return turn if before not in (None, after) else None
