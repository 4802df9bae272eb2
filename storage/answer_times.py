"""Times of the answers of an annotation project: when they were given, and how long each took."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models.review import Annotation

LONGEST_PAUSE = 600.0
"""Seconds; after a longer time between two answers nobody knows how long the second one took."""


def answer_times(session: Session, project_id: int) -> dict[tuple[str, str], float]:
    """Return (account, item) -> when it was answered last, in seconds since 1970, UTC."""
    wanted = select(Annotation.account, Annotation.item, Annotation.answered_at).where(
        Annotation.project_id == project_id
    )
    return {(account, item): moment for account, item, moment in session.execute(wanted)}


def seconds_taken(moments: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float | None]:
    """Return (account, item) -> seconds since the answer before it; None for a first one, or a long pause. Pure."""
    taken: dict[tuple[str, str], float | None] = {}
    last: dict[str, float] = {}
    for (account, item), moment in sorted(moments.items(), key=lambda item: item[1]):
        pause = moment - last[account] if account in last else None
        taken[account, item] = round(pause, 1) if pause is not None and pause <= LONGEST_PAUSE else None
        last[account] = moment
    return taken
