"""The order of a pair's responses for an annotator: recorded when it is first shown, balanced among annotators."""

from __future__ import annotations

from storage.annotation import annotation_projects, shown_orders
from storage.annotation.annotation_projects import Project
from storage.database import Session
from vlrb.label_quality.annotation import PREFERENCES, annotation_order, balanced_order

ResponseOrder = tuple[int, int]


def recorded_order(session: Session, project: Project, *, account: str, key: str) -> ResponseOrder | None:
    """Return which of A (0) and B (1) somebody sees first and second; None where that is open.

    Who answered a pair before orders were recorded, or looks at a closed project, sees the order of the hash.
    """
    first = shown_orders.of_pair(session, project.id, item=key).get(account)
    if first is not None:
        return _order(first)
    if (
        project.closed_at is not None
        or annotation_projects.answer(session, project.id, account=account, item=key) is not None
    ):
        return annotation_order(account, key)
    return None


def give_order(session: Session, project: Project, *, account: str, key: str) -> ResponseOrder:
    """Return the recorded order, or record one. The project must be locked."""
    known = recorded_order(session, project, account=account, key=key)
    if known is not None:
        return known
    answered = {answer.account for answer in annotation_projects.answers_to(session, project.id, item=key)}
    orders = {name: PREFERENCES[annotation_order(name, key)[0]] for name in answered}
    orders |= shown_orders.of_pair(session, project.id, item=key)
    order = balanced_order(account, key, answered=[orders[name] for name in answered], shown=list(orders.values()))
    shown_orders.record(session, project.id, account=account, item=key, first=PREFERENCES[order[0]])
    return order


def _order(first: str) -> ResponseOrder:
    return (0, 1) if first == PREFERENCES[0] else (1, 0)
