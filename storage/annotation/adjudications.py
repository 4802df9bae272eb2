"""SQL of what is beside the answers of an annotation project: gold, first answers, adjudications."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.models.review import Adjudication, Adjudicator, FirstAnswer, GoldPair


class AdjudicatorAnswer(NamedTuple):
    """An adjudicator's answer."""

    item: str  # key
    account: str
    verdict: str
    errors: list[str]
    note: str


_DECISION = tuple(getattr(Adjudication, name) for name in AdjudicatorAnswer._fields)


def gold(session: Session, project_id: int) -> dict[str, str]:
    """Return item key -> the verdict that is known to be right."""
    wanted = select(GoldPair.item, GoldPair.verdict).where(GoldPair.project_id == project_id)
    return dict(session.execute(wanted).all())


def set_gold(session: Session, project_id: int, *, verdicts: Mapping[str, str]) -> None:
    """State the verdicts of these items, over earlier ones. The project must be locked."""
    same = (GoldPair.project_id == project_id, GoldPair.item.in_(list(verdicts)))
    session.execute(delete(GoldPair).where(*same), execution_options={"synchronize_session": False})
    rows = [{"project_id": project_id, "item": item, "verdict": verdict} for item, verdict in verdicts.items()]
    session.execute(insert(GoldPair), rows)


def add_first_answer(session: Session, project_id: int, *, account: str, item: str, verdict: str) -> None:
    """Keep the answer that was given before the draft label was shown."""
    row = insert(FirstAnswer).values(project_id=project_id, account=account, item=item, verdict=verdict)
    session.execute(row)


def first_answers(session: Session, project_id: int) -> dict[tuple[str, str], str]:
    """Return (account, item) -> the verdict before the draft label was shown."""
    wanted = select(FirstAnswer.account, FirstAnswer.item, FirstAnswer.verdict)
    rows = session.execute(wanted.where(FirstAnswer.project_id == project_id))
    return {(account, item): verdict for account, item, verdict in rows}


def first_answer(session: Session, project_id: int, *, account: str, item: str) -> str | None:
    """Return an annotator's verdict about an item before its draft label was shown."""
    wanted = select(FirstAnswer.verdict).where(FirstAnswer.project_id == project_id)
    return session.execute(wanted.where(FirstAnswer.account == account, FirstAnswer.item == item)).scalar_one_or_none()


def adjudicators(session: Session, project_id: int) -> list[str]:
    """Return the accounts that may adjudicate."""
    wanted = select(Adjudicator.account).where(Adjudicator.project_id == project_id).order_by(Adjudicator.account)
    return list(session.scalars(wanted))


def add_adjudicators(session: Session, project_id: int, accounts: Iterable[str]) -> list[str]:
    """Let accounts adjudicate; returns those that could not before."""
    known = set(adjudicators(session, project_id))
    new = [account for account in dict.fromkeys(accounts) if account not in known]
    if new:
        session.execute(insert(Adjudicator), [{"project_id": project_id, "account": account} for account in new])
    return new


def decisions(session: Session, project_id: int) -> dict[str, AdjudicatorAnswer]:
    """Return item key -> the adjudicator's answer."""
    wanted = select(*_DECISION).where(Adjudication.project_id == project_id).order_by(Adjudication.item)
    return {row[0]: AdjudicatorAnswer(*row) for row in session.execute(wanted)}


def decide(session: Session, project_id: int, *, item: str, **values: Any) -> None:
    """Write an adjudicator's answer over an earlier one, or as a first one. The project must be locked."""
    known = session.execute(
        update(Adjudication)
        .where(Adjudication.project_id == project_id, Adjudication.item == item)
        .values(answered_at=database_now(), **values)
        .returning(Adjudication.item),
        execution_options={"synchronize_session": False},
    ).first()
    if known is None:
        session.execute(insert(Adjudication).values(project_id=project_id, item=item, **values))
