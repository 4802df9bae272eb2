"""Whether a worker that runs holds the labels of a revision, and what brings them back where none does."""

from __future__ import annotations

from typing import Any

from maintenance.values import NotPossible
from storage import label_imports, presence


def require_held(session: Any, revision: str) -> None:
    """Raises NotPossible where the board would stand still under a revision. Where no worker runs, none is asked."""
    if presence.nobody_holds(session, revision):
        raise NotPossible(
            "labels-missing",
            f"No worker that runs holds the labels of revision {revision}: {_remedy(session, revision)}.",
        )


def missing(session: Any, shown: str) -> str | None:
    """What is to be said where nobody holds the labels that the board shows; None where somebody does."""
    if not presence.nobody_holds(session, shown):
        return None
    return (
        f"No worker that runs holds the labels of revision {shown}, which the board shows, so submissions wait and the "
        f"board stays as it is: {_remedy(session, shown)}."
    )


def _remedy(session: Any, revision: str) -> str:
    if label_imports.find(session, revision) is None:
        return f"name {revision} in LABELS again and start the workers anew"
    return f"bring the file DATA_DIR/labels/{revision}.json back to them"
