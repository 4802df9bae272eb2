"""SQL: when the answers of an annotation project were given."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models.review import Annotation


def answer_times(session: Session, project_id: int) -> dict[tuple[str, str], float]:
    """Return (account, item) -> when it was answered last, in seconds since 1970, UTC."""
    wanted = select(Annotation.account, Annotation.item, Annotation.answered_at).where(
        Annotation.project_id == project_id
    )
    return {(account, item): moment for account, item, moment in session.execute(wanted)}
