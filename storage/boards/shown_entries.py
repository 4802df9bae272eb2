"""Entries that the public sees on the current board, for what is counted over them without a label."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.labels import label_sets
from storage.models.core import Score, Submission
from storage.moderation import removed_condition
from storage.visibility import unpublished


def shown_entries(session: Session, benchmark: str) -> Sequence[str]:
    """Return their ids."""
    board = label_sets.current(session, benchmark)
    if board is None:
        return ()
    return session.scalars(
        select(Submission.id)
        .join(Score, Score.submission_id == Submission.id)
        .where(
            Submission.benchmark == benchmark,
            Score.label_revision == board.label_revision,
            Score.scorer_version == board.scorer_version,
            Submission.id.not_in(removed_condition()),
            Submission.id.not_in(unpublished()),
        )
    ).all()
