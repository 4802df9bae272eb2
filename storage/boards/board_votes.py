"""Votes of the entries on the board, for statistics that need no label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.labels import label_sets
from storage.models.core import Score, Submission
from storage.moderation import removed_condition
from storage.visibility import unpublished


def board_votes(session: Session, benchmark: str, *, among: Sequence[str] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield votes per item, and the packed votes, of each entry that the public sees; of those `among` these, if
    given."""
    board = label_sets.current(session, benchmark)
    if board is None:
        return
    rows = session.execute(
        select(Submission.votes_per_item, Submission.votes)
        .join(Score, Score.submission_id == Submission.id)
        .where(
            Submission.benchmark == benchmark,
            Score.label_revision == board.label_revision,
            Score.scorer_version == board.scorer_version,
            Submission.id.not_in(removed_condition()),
            Submission.id.not_in(unpublished()),
            *(() if among is None else (Submission.id.in_(among),)),
        )
    )
    for row in rows.yield_per(500):
        yield row[0], row[1]
