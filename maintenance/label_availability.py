"""Check whether a live worker has loaded the labels of a revision, and the remedy where none has."""

from __future__ import annotations

from maintenance.types import Conflict
from operation.alarms import labels_remedy
from storage.database import Session
from storage.jobs import worker_heartbeats


def require_labels_loaded(session: Session, benchmark: str, *, revision: str) -> None:
    """Raise Conflict if no running worker could update the board under a revision. Without a worker, do not check."""
    if worker_heartbeats.no_worker_has(session, benchmark, revision=revision):
        raise Conflict(
            "labels-missing",
            (
                f"No running worker has the labels of revision {revision}: "
                f"{labels_remedy(session, benchmark, revision=revision)}."
            ),
        )
