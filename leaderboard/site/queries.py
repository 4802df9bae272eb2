"""SQL of the public pages: the current snapshot, and whether a worker is alive. Nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy.orm import Session

from leaderboard.ranking.disclosure import redact_snapshot
from leaderboard.site.cache import CurrentSnapshot
from storage import visibility
from storage.boards import snapshots
from storage.boards.snapshots import snapshot_at
from storage.clock import iso
from storage.database import Database
from storage.integrity import audit
from storage.jobs import worker_heartbeats
from storage.labels import label_levels, label_sets
from storage.limits import submission_pause
from storage.models.core import Snapshot
from storage.visibility import RemovedEntry
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec

_TURNED = ("rescore.applied", "rescore.undone", "board.pointed")  # what makes the board show other labels
OFFLINE_AFTER = 30.0  # seconds without a heartbeat until scores count as delayed


class DatabaseSnapshots:
    """A ``leaderboard.site.cache.SnapshotSource`` over the service's database."""

    def __init__(
        self,
        database: Database,
        spec: BenchmarkSpec | None = None,
        *,
        offline_after: float = OFFLINE_AFTER,
    ) -> None:
        """``spec``: whose board it is. ``offline_after``: seconds of silence until pages say so."""
        self._database = database
        self._spec = spec or load_spec(DEFAULT_BENCHMARK)
        self._offline_after = offline_after
        self._absent_since: float | None = None

    def current(self) -> CurrentSnapshot:
        """Return three reads of one row each, the few entries that are off the board, and the levels of labels."""
        with self._database.read() as session:
            current = label_sets.current(session, self._spec.id)
            seen = worker_heartbeats.last_seen(session)
            paused = submission_pause.pause_message(session)
            off = visibility.removed_entries(session)
            levels = label_levels.levels(session, self._spec.id)
        snapshot_id = current.snapshot_id if current else None
        return CurrentSnapshot(snapshot_id, self._delayed_since(seen), paused=paused, off=off, levels=levels)

    def load(self, snapshot_id: str, *, old: bool = False) -> Mapping[str, Any]:
        """Return the facts of a snapshot, without the entries that are hidden now (nothing of those is public), and of
        label sets that are not public only what their disclosure allows. Unless it is ``old``, an entry that was
        withdrawn since is a stub at once: a worker may take its time to publish the next snapshot.

        Raises:
            LookupError: there is no such snapshot.
        """
        with self._database.read() as session:
            result = session.get(Snapshot, snapshot_id)
            if result is None:
                raise LookupError(f"no snapshot {snapshot_id}")
            content = snapshots.content(session, snapshot_id)
            off = visibility.removed_entries(session)
            levels = label_levels.levels(session, result.benchmark)
            turned = _last_turn(session, result.benchmark, through=result.through_seq)
        snapshot = {**redact_snapshot(orjson.loads(content), levels, spec=self._spec), "turned": turned}
        return snapshot | _decided(snapshot, off, old=old)

    def find(self, when: str) -> str | None:
        """Do as ``storage.boards.snapshots.snapshot_as_of``."""
        with self._database.read() as session:
            return snapshot_at(session, self._spec.id, when=when)

    def relations(self, relations_id: str) -> bytes | None:
        """Return stored relations by their id, for vlrb.statistics.pairwise.unpack."""
        with self._database.read() as session:
            return snapshots.relations(session, relations_id)

    def _delayed_since(self, seen: worker_heartbeats.LastHeartbeat | None) -> datetime | None:
        if seen is not None:
            self._absent_since = None
            late = seen.seconds_ago > self._offline_after
            return datetime.fromtimestamp(int(seen.heartbeat_at), UTC) if late else None
        # A worker that stopped in order left no trace: count from when that was noticed.
        now = datetime.now(UTC).timestamp()
        self._absent_since = self._absent_since or now
        late = now - self._absent_since > self._offline_after
        return datetime.fromtimestamp(int(self._absent_since), UTC) if late else None


def _decided(snapshot: Mapping[str, Any], off: Collection[RemovedEntry], *, old: bool) -> dict[str, Any]:
    """Return the entries and stubs of a snapshot after what was decided since."""
    hidden = {removed.entry for removed in off if removed.hidden_at is not None}
    gone = {removed.entry: removed for removed in off if not old or removed.entry in hidden}
    left = [
        gone[entry["id"]].stub(entry["model"], entry["version"]) for entry in snapshot["entries"] if entry["id"] in gone
    ]
    # A stub may be older than the decision to hide the entry.
    stubs = (*snapshot.get("stubs", ()), *filter(None, left))
    return {
        "entries": [entry for entry in snapshot["entries"] if entry["id"] not in gone],
        "stubs": [stub for stub in stubs if stub["id"] not in hidden],
    }


def _last_turn(session: Session, benchmark: str, *, through: int) -> dict[str, Any] | None:
    """Return the last decision, up to an audit event, that made the board show other labels; None where there was
    none."""
    about = [audit.board(benchmark)]
    result = next(iter(audit.newest(session, _TURNED, subjects=about, before=through + 1, limit=1)), None)
    if result is None:
        return None
    before, after = ((result.body[side] or {}).get("label_revision") for side in ("from", "to"))
    turn = {"seq": result.seq, "at": iso(result.at), "from": before, "to": after}
    return turn if before not in (None, after) else None
