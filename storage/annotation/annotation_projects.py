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


class NewItem(NamedTuple):
    """A pair of a project to be made. `gold`: the verdict that is known. `text` None: it is one of the benchmark."""

    item: str  # key
    gold: str | None = None
    text: PairText | None = None


class StoredItem(NamedTuple):
    """A pair of a project. `gold`: the verdict that is known; `decision`: that of a maintainer."""

    place: int
    item: str  # key
    gold: str | None
    decision: str | None


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
_ITEM = tuple(getattr(ProjectItem, name) for name in StoredItem._fields)
_ANSWER = tuple(getattr(Annotation, name) for name in AnnotatorAnswer._fields)


class NewProject(NamedTuple):
    """A project to be made; `created_by`: an account. Other fields as in `Project`."""

    name: str
    base_revision: str
    reason: str
    created_by: str
    answers_wanted: int
    guidelines: str = ""
    folder: str = ""


def create(session: Session, benchmark: str, *, new: NewProject, items: Sequence[NewItem]) -> int:
    """Return a new project about pairs, in that order. Raises IntegrityError where the name is taken."""
    row = insert(AnnotationProject).values(benchmark=benchmark, **new._asdict())
    project = session.execute(row.returning(AnnotationProject.id)).scalar_one()
    rows = [
        {
            "project_id": project,
            "place": place,
            "item": item.item,
            "gold": item.gold,
            "text": item.text and item.text._asdict(),
        }
        for place, item in enumerate(items, start=1)
    ]
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


def add_annotators(session: Session, project_id: int, *, accounts: Iterable[str]) -> list[str]:
    """Let accounts answer, also those that were left out; returns those that could not before."""
    ids, without = list(dict.fromkeys(accounts)), left_out(session, project_id)
    known = set(annotators(session, project_id)) | without
    back = [account for account in ids if account in without]
    _set_left_out(session, project_id, accounts=back, value=False)
    new = [account for account in ids if account not in known]
    if new:
        session.execute(insert(Annotator), [{"project_id": project_id, "account": account} for account in new])
    return new + back


def leave_out(session: Session, project_id: int, *, accounts: Iterable[str]) -> list[str]:
    """Take the right to answer away; returns those that had it. Their answers stay, and count no more."""
    may = set(annotators(session, project_id))
    result = [account for account in dict.fromkeys(accounts) if account in may]
    _set_left_out(session, project_id, accounts=result, value=True)
    return result


def _set_left_out(session: Session, project_id: int, *, accounts: Sequence[str], value: bool) -> None:
    those = update(Annotator).where(Annotator.project_id == project_id, Annotator.account.in_(accounts))
    session.execute(those.values(left_out=value), execution_options={"synchronize_session": False})


def left_out(session: Session, project_id: int) -> set[str]:
    """Return the accounts whose answers do not count."""
    wanted = select(Annotator.account).where(Annotator.project_id == project_id, Annotator.left_out)
    return set(session.scalars(wanted))


def annotators(session: Session, project_id: int) -> list[str]:
    """Return the accounts that may answer."""
    wanted = select(Annotator.account).where(Annotator.project_id == project_id, ~Annotator.left_out)
    return list(session.scalars(wanted.order_by(Annotator.account)))


def items(session: Session, project_id: int) -> list[StoredItem]:
    """Return the pairs of a project, by place."""
    wanted = select(*_ITEM).where(ProjectItem.project_id == project_id).order_by(ProjectItem.place)
    return [StoredItem(*row) for row in session.execute(wanted)]


def text_of(session: Session, project_id: int, *, item: str) -> PairText | None:
    """Return the texts of a pair of a file; None of one of the benchmark."""
    wanted = select(ProjectItem.text).where(ProjectItem.project_id == project_id, ProjectItem.item == item)
    text = session.execute(wanted).scalar_one_or_none()
    return None if text is None else _pair_text(text)


def names(session: Session, project_id: int) -> dict[str, str]:
    """Return item key -> id, of the pairs of a file."""
    wanted = select(ProjectItem.item, ProjectItem.text).where(ProjectItem.project_id == project_id)
    return {item: text["id"] for item, text in session.execute(wanted) if text is not None}


def decide(session: Session, project_id: int, *, verdicts: Mapping[str, str], by: str) -> None:
    """Keep a maintainer's verdicts of these items, over earlier ones. The project must be locked."""
    for item, verdict in verdicts.items():
        one = update(ProjectItem).where(ProjectItem.project_id == project_id, ProjectItem.item == item)
        values = {"decision": verdict, "decided_by": by}
        session.execute(one.values(values), execution_options={"synchronize_session": False})


def _pair_text(text: Mapping[str, Any]) -> PairText:
    first, second = text["responses"]
    return PairText(text["id"], text["query"], responses=(first, second), image=text["image"])


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
