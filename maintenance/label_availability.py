"""Check whether a live worker has loaded the labels of a revision, and the remedy where none has."""

from __future__ import annotations

from typing import Any

from maintenance.types import Conflict
from storage import label_imports, worker_heartbeats


def require_labels_loaded(session: Any, revision: str) -> None:
    """Raise Conflict where the board would stand still under a revision. Where no worker runs, none is asked."""
    if worker_heartbeats.no_worker_has(session, revision):
        raise Conflict(
            "labels-missing",
            f"No worker that runs holds the labels of revision {revision}: {_remedy(session, revision)}.",
        )


def revisions_not_loaded(session: Any, shown: str) -> str | None:
    """Return what is to be said where nobody holds the labels that the board shows; None where somebody does."""
    if not worker_heartbeats.no_worker_has(session, shown):
        return None
    return (
        f"No worker that runs holds the labels of revision {shown}, which the board shows, so submissions wait and the "
        f"board stays as it is: {_remedy(session, shown)}."
    )


def _remedy(session: Any, revision: str) -> str:
    if label_imports.find(session, revision) is None:
        return f"name {revision} in LABELS again and start the workers anew"
    return f"bring the file DATA_DIR/labels/{revision}.json back to them"
