"""SQL of the orders in which annotators of a project see the two responses of a pair: written once, never changed."""

from __future__ import annotations

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from storage.models.review import ShownOrder


def of_pair(session: Session, project_id: int, *, item: str) -> dict[str, str]:
    """Return account -> the response, a or b, that it sees first."""
    wanted = select(ShownOrder.account, ShownOrder.shown_first).where(ShownOrder.project_id == project_id)
    return dict(session.execute(wanted.where(ShownOrder.item == item)).all())


def of_project(session: Session, project_id: int) -> dict[tuple[str, str], str]:
    """Return (account, item) -> the response, a or b, that was shown first."""
    wanted = select(ShownOrder.account, ShownOrder.item, ShownOrder.shown_first)
    rows = session.execute(wanted.where(ShownOrder.project_id == project_id))
    return {(account, item): first for account, item, first in rows}


def record(session: Session, project_id: int, *, account: str, item: str, first: str) -> None:
    """Keep what somebody sees first. The project must be locked."""
    row = insert(ShownOrder).values(project_id=project_id, account=account, item=item, shown_first=first)
    session.execute(row)
