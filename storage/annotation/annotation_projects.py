"""SQL of annotation projects: annotators, items and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.models.review import Annotation, AnnotationProject, Annotator, ProjectItem


class Project(NamedTuple):
    """A project. Instants are seconds since 1970, UTC."""

    id: int
    name: str
    base_revision: str
    answers_wanted: int  # of each pair
    reason: str
    created_by: str
    created_at: float
    closed_by: str | None
    closed_at: float | None
    items: int


class AnnotatorAnswer(NamedTuple):
    """An answer."""

    account: str
    item: str  # key
    verdict: str
    errors: list[str]
    note: str
    models_seen_at: float | None


_ITEMS = (
    select(func.count())
    .select_from(ProjectItem)
    .where(ProjectItem.project_id == AnnotationProject.id)
    .scalar_subquery()
)
_COLUMNS = (*(getattr(AnnotationProject, name) for name in Project._fields[:-1]), _ITEMS)
_ANSWER = tuple(getattr(Annotation, name) for name in AnnotatorAnswer._fields)


class NewProject(NamedTuple):
    """A project to be made; `created_by`: an account. Other fields as in `Project`."""

    name: str
    base_revision: str
    reason: str
    created_by: str
    answers_wanted: int


def create(session: Session, benchmark: str, *, new: NewProject, items: Sequence[str]) -> int:
    """Return a new project about item keys, in that order. Raises IntegrityError where the name is taken."""
    row = insert(AnnotationProject).values(benchmark=benchmark, **new._asdict())
    project = session.execute(row.returning(AnnotationProject.id)).scalar_one()
    rows = [{"project_id": project, "place": place, "item": item} for place, item in enumerate(items, start=1)]
    session.execute(insert(ProjectItem), rows)
    return project


def projects(session: Session, benchmark: str, *, account: str | None = None) -> list[Project]:
    """Return all projects, or those that an account may answer in; the newest first."""
    wanted = select(*_COLUMNS).where(AnnotationProject.benchmark == benchmark).order_by(AnnotationProject.id.desc())
    if account is not None:
        own = select(Annotator.project_id).where(Annotator.account == account)
        wanted = wanted.where(AnnotationProject.id.in_(own))
    return [Project(*row) for row in session.execute(wanted)]


def project(session: Session, benchmark: str, *, project_id: int, lock: bool = False) -> Project | None:
    """Return one project; `lock` keeps others from closing it until the transaction ends."""
    if lock:
        session.execute(select(AnnotationProject.id).where(AnnotationProject.id == project_id).with_for_update())
    wanted = select(*_COLUMNS).where(AnnotationProject.benchmark == benchmark, AnnotationProject.id == project_id)
    row = session.execute(wanted).first()
    return None if row is None else Project(*row)


def close(session: Session, project_id: int, *, by: str) -> bool:
    """End a project: no answer changes any more. False where it is closed."""
    changed = session.execute(
        update(AnnotationProject)
        .where(AnnotationProject.id == project_id, AnnotationProject.closed_at.is_(None))
        .values(closed_by=by, closed_at=database_now())
        .returning(AnnotationProject.id),
        execution_options={"synchronize_session": False},
    )
    return changed.first() is not None


def add_annotators(session: Session, project_id: int, accounts: Iterable[str]) -> list[str]:
    """Let accounts answer; returns those that could not before."""
    known = set(annotators(session, project_id))
    new = [account for account in dict.fromkeys(accounts) if account not in known]
    if new:
        session.execute(insert(Annotator), [{"project_id": project_id, "account": account} for account in new])
    return new


def annotators(session: Session, project_id: int) -> list[str]:
    """Return the accounts that may answer."""
    wanted = select(Annotator.account).where(Annotator.project_id == project_id).order_by(Annotator.account)
    return list(session.scalars(wanted))


def items(session: Session, project_id: int) -> list[str]:
    """Return the item keys of a project, by place."""
    wanted = select(ProjectItem.item).where(ProjectItem.project_id == project_id).order_by(ProjectItem.place)
    return list(session.scalars(wanted))


def gold(session: Session, project_id: int) -> dict[str, str]:
    """Return item key -> the verdict that is known to be right."""
    wanted = select(ProjectItem.item, ProjectItem.gold).where(ProjectItem.project_id == project_id)
    return {item: verdict for item, verdict in session.execute(wanted) if verdict is not None}


def set_gold(session: Session, project_id: int, *, verdicts: Mapping[str, str]) -> None:
    """State the verdicts of these items, over earlier ones. The project must be locked."""
    for item, verdict in verdicts.items():
        one = update(ProjectItem).where(ProjectItem.project_id == project_id, ProjectItem.item == item)
        session.execute(one.values(gold=verdict), execution_options={"synchronize_session": False})


def item_at(session: Session, project_id: int, *, place: int) -> str | None:
    """Return the item key at a place, from 1."""
    wanted = select(ProjectItem.item).where(ProjectItem.project_id == project_id, ProjectItem.place == place)
    return session.execute(wanted).scalar_one_or_none()


def answered(session: Session, project_id: int, *, account: str) -> list[int]:
    """Return the places that an annotator has answered."""
    here = (ProjectItem.project_id == Annotation.project_id) & (ProjectItem.item == Annotation.item)
    wanted = select(ProjectItem.place).join(Annotation, here).where(Annotation.project_id == project_id)
    return list(session.scalars(wanted.where(Annotation.account == account).order_by(ProjectItem.place)))


def answer(session: Session, project_id: int, *, account: str, item: str) -> AnnotatorAnswer | None:
    """Return an annotator's answer about an item."""
    row = session.execute(select(*_ANSWER).where(*_place(project_id, account, item=item))).first()
    return None if row is None else AnnotatorAnswer(*row)


def answers(session: Session, project_id: int) -> list[AnnotatorAnswer]:
    """Return all answers of a project, by item and account."""
    wanted = select(*_ANSWER).where(Annotation.project_id == project_id)
    return [AnnotatorAnswer(*row) for row in session.execute(wanted.order_by(Annotation.item, Annotation.account))]


def answers_to(session: Session, project_id: int, *, item: str) -> list[AnnotatorAnswer]:
    """Return all answers about one item, by account."""
    wanted = select(*_ANSWER).where(Annotation.project_id == project_id, Annotation.item == item)
    return [AnnotatorAnswer(*row) for row in session.execute(wanted.order_by(Annotation.account))]


def save_answer(session: Session, project_id: int, *, account: str, item: str, **values: Any) -> None:
    """Write an answer over an earlier one, or as a first one. The project must be locked."""
    known = session.execute(
        update(Annotation)
        .where(*_place(project_id, account, item=item))
        .values(answered_at=database_now(), **values)
        .returning(Annotation.item),
        execution_options={"synchronize_session": False},
    ).first()
    if known is None:
        session.execute(insert(Annotation).values(project_id=project_id, account=account, item=item, **values))


def record_model_reveal(session: Session, project_id: int, *, account: str, item: str) -> bool:
    """Make an answer final; False where it was already, or there is none."""
    changed = session.execute(
        update(Annotation)
        .where(*_place(project_id, account, item=item), Annotation.models_seen_at.is_(None))
        .values(models_seen_at=database_now())
        .returning(Annotation.item),
        execution_options={"synchronize_session": False},
    )
    return changed.first() is not None


def _place(project_id: int, account: str, *, item: str) -> tuple[Any, ...]:
    return (Annotation.project_id == project_id, Annotation.account == account, Annotation.item == item)
