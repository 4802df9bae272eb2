"""SQL of annotation projects: pairs, annotators and answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import change_rows
from storage.models.review import Annotation, AnnotationProject, Annotator, ProjectItem


class Project(NamedTuple):
    """A project. Instants are seconds since 1970, UTC."""

    id: int
    name: str
    base_revision: str  # "": its pairs are those of a file
    answers_wanted: int  # of each pair
    guidelines: str
    folder: str  # where images of the file's pairs lie; "" where there is no such file
    reason: str
    created_by: str
    created_at: float
    closed_by: str | None
    closed_at: float | None
    items: int


class PairText(NamedTuple):
    """A pair of a file. Responses: A, then B. `image`: below the project's folder; "" for none."""

    id: str
    query: str
    responses: tuple[str, str]
    image: str


class ProjectPair(NamedTuple):
    """A pair of a project. `gold`: the verdict that is known. `text` None: it is one of the benchmark."""

    item: str  # key
    gold: str | None = None
    text: PairText | None = None


class AnnotatorAnswer(NamedTuple):
    """An answer. `left_out`: it does not count."""

    place: int  # of the pair
    item: str  # key
    account: str
    verdict: str
    errors: list[str]
    note: str
    answered_at: float
    left_out: bool


_ITEMS = select(func.count()).where(ProjectItem.project_id == AnnotationProject.id).scalar_subquery()
_COLUMNS = (*(getattr(AnnotationProject, name) for name in Project._fields[:-1]), _ITEMS)
_GIVEN = tuple(getattr(Annotation, name) for name in AnnotatorAnswer._fields[1:-1])


def create(session: Session, benchmark: str, *, pairs: Sequence[ProjectPair], **values: Any) -> int:
    """Return a new project about pairs, in that order. Raises IntegrityError where the name is taken."""
    row = insert(AnnotationProject).values(benchmark=benchmark, **values)
    project = session.execute(row.returning(AnnotationProject.id)).scalar_one()
    rows = [
        {"project_id": project, "place": place, **pair._asdict(), "text": pair.text and pair.text._asdict()}
        for place, pair in enumerate(pairs, start=1)
    ]
    session.execute(insert(ProjectItem), rows)
    return project


def projects(session: Session, benchmark: str) -> list[Project]:
    """Return all projects, the newest first."""
    wanted = select(*_COLUMNS).where(AnnotationProject.benchmark == benchmark).order_by(AnnotationProject.id.desc())
    return [Project(*row) for row in session.execute(wanted)]


def project(session: Session, benchmark: str, *, project_id: int, lock: bool = False) -> Project | None:
    """Return one project; `lock` keeps others from closing it until the transaction ends."""
    if lock:
        session.execute(select(AnnotationProject.id).where(AnnotationProject.id == project_id).with_for_update())
    wanted = select(*_COLUMNS).where(AnnotationProject.benchmark == benchmark, AnnotationProject.id == project_id)
    row = session.execute(wanted).first()
    return None if row is None else Project(*row)


def close(session: Session, project_id: int, *, by: str) -> None:
    """End a project: no answer changes any more. The project must be locked."""
    one = update(AnnotationProject).where(AnnotationProject.id == project_id)
    session.execute(one.values(closed_by=by, closed_at=database_now()))


def annotators(session: Session, project_id: int, *, left_out: bool = False) -> dict[str, int]:
    """Return account -> number, from 0, of those who may answer, or of those whose answers do not count."""
    wanted = select(Annotator.account, Annotator.number).where(Annotator.project_id == project_id)
    return dict(session.execute(wanted.where(Annotator.left_out == left_out).order_by(Annotator.account)).all())


def add_annotators(session: Session, project_id: int, *, accounts: Iterable[str]) -> list[str]:
    """Let accounts answer, also those that were left out; returns those that could not before.

    The project must be locked.
    """
    may, gone = (annotators(session, project_id, left_out=left_out) for left_out in (False, True))
    added = [account for account in dict.fromkeys(accounts) if account not in may]
    _set_left_out(session, project_id, accounts=added, value=False)
    new = [account for account in added if account not in gone]
    rows = [
        {"project_id": project_id, "account": account, "number": number}
        for number, account in enumerate(new, start=len(may) + len(gone))
    ]
    if rows:
        session.execute(insert(Annotator), rows)
    return added


def leave_out(session: Session, project_id: int, *, accounts: Iterable[str]) -> list[str]:
    """Take the right to answer away; returns those that had it. Their answers stay, and count no more."""
    may = annotators(session, project_id)
    result = [account for account in dict.fromkeys(accounts) if account in may]
    _set_left_out(session, project_id, accounts=result, value=True)
    return result


def _set_left_out(session: Session, project_id: int, *, accounts: Sequence[str], value: bool) -> None:
    those = update(Annotator).where(Annotator.project_id == project_id, Annotator.account.in_(accounts))
    change_rows(session, those.values(left_out=value))


def items(session: Session, project_id: int) -> list[ProjectPair]:
    """Return the pairs of a project by place, without their texts."""
    wanted = select(ProjectItem.item, ProjectItem.gold).where(ProjectItem.project_id == project_id)
    return [ProjectPair(*row) for row in session.execute(wanted.order_by(ProjectItem.place))]


def pair_at(session: Session, project_id: int, *, place: int) -> ProjectPair | None:
    """Return the pair at a place, from 1."""
    row = session.get(ProjectItem, (project_id, place))
    if row is None:
        return None
    text = row.text and PairText(**{**row.text, "responses": tuple(row.text["responses"])})
    return ProjectPair(row.item, row.gold, text=text or None)


def names(session: Session, project_id: int) -> dict[str, str]:
    """Return item key -> id, of the pairs of a file."""
    wanted = select(ProjectItem.item, ProjectItem.text).where(ProjectItem.project_id == project_id)
    return {item: text["id"] for item, text in session.execute(wanted) if text is not None}


def answers(
    session: Session, project_id: int, *, account: str | None = None, item: str | None = None
) -> list[AnnotatorAnswer]:
    """Return the answers of a project, those of an account, or those about a pair; by item and account."""
    wanted = (
        select(ProjectItem.place, *_GIVEN, Annotator.left_out)
        .join(Annotator, (Annotator.project_id == project_id) & (Annotator.account == Annotation.account))
        .join(ProjectItem, (ProjectItem.project_id == project_id) & (ProjectItem.item == Annotation.item))
        .where(Annotation.project_id == project_id)
    )
    if account is not None:
        wanted = wanted.where(Annotation.account == account)
    if item is not None:
        wanted = wanted.where(Annotation.item == item)
    return [AnnotatorAnswer(*row) for row in session.execute(wanted.order_by(Annotation.item, Annotation.account))]


def save_answer(session: Session, project_id: int, *, account: str, item: str, **values: Any) -> None:
    """Write an answer over an earlier one, or as a first one. The project must be locked."""
    row = Annotation(project_id=project_id, account=account, item=item, answered_at=database_now(), **values)
    session.merge(row)
