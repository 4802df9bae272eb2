"""Check whether a live worker has loaded the labels of a revision, and the remedy where none has."""

from __future__ import annotations

from maintenance.types import Conflict
from storage.database import Session
from storage.jobs import worker_heartbeats
from storage.labels import label_imports
from vlrb.common.messages import _


def require_labels_loaded(session: Session, benchmark: str, *, revision: str) -> None:
    """Raise Conflict if no running worker could update the board under a revision. Without a worker, do not check."""
    if worker_heartbeats.no_worker_has(session, benchmark, revision=revision):
        raise Conflict(
            "labels-missing",
            _(
                "No running worker has the labels of revision {revision}: {remedy}.",
                revision=revision,
                remedy=_remedy(session, benchmark, revision=revision),
            ),
        )


def revisions_not_loaded(session: Session, benchmark: str, *, shown: str) -> str | None:
    """Return the alarm if no worker holds the board's labels, else None."""
    if not worker_heartbeats.no_worker_has(session, benchmark, revision=shown):
        return None
    return _(
        "No running worker has the labels of revision {shown}, which the board shows, so "
        "submissions wait and the board stays as it is: {remedy}.",
        shown=shown,
        remedy=_remedy(session, benchmark, revision=shown),
    )


def _remedy(session: Session, benchmark: str, *, revision: str) -> str:
    if label_imports.find(session, benchmark, revision=revision) is None:
        return _("name {revision} in LABELS again and start the workers anew", revision=revision)
    return _(
        "bring the file DATA_DIR/labels/{benchmark}/{revision}.json back to them",
        benchmark=benchmark,
        revision=revision,
    )
