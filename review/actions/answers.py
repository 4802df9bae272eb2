"""Answers in an annotation project: what an annotator sees, and saving each answer.

Annotators are blind: no label is here to be shown, and the responses come in an order that tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple

from auth import Forbidden, Identity, Role, require
from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, RowNumber, action
from maintenance.types import ActionResult, Conflict, NotFound
from review.actions.projects import ProjectNumber, known
from review.items import pair_names
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project, ProjectPair
from storage.database import Session
from storage.files.import_folders import path_below
from storage.integrity import audit
from storage.models.review import NOTE_LIMIT
from vlrb.common.messages import _
from vlrb.label_quality.annotation import PREFERENCES, UNUSABLE, annotation_order, needs_answer

ANSWERED = "verification.answered"
SEEN = ("first", "second")
"""The preferences as an annotator gives them; the other verdicts are those of vlrb.label_quality.annotation."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as an annotator gives it: one of SEEN or UNUSABLE, errors of the worse response, a note."""

    verdict: Annotated[str, ParamInfo(choices=(*SEEN, *UNUSABLE), help="the better response, or why there is none")]
    errors: Annotated[Sequence[str], ParamInfo(help="of the worse one")] = ()
    note: str = ""


class ProjectView(NamedTuple):
    """A project as a user sees it; pairs by their places, from 1.

    `waiting`: those that still need the user's answer, in an order of the user's own, so that annotators do not all
    begin with the same pairs. `answers_wanted`: of each pair.
    """

    id: int
    name: str
    items: int
    answered: list[int]
    closed: bool
    waiting: list[int]
    answers_wanted: int
    guidelines: str


class ShownPair(NamedTuple):
    """A pair as an annotator sees it. `question`, `responses` None: the installation has no texts.

    `has_enough`: others have given all answers that the pair needs, so the user's would be refused.
    """

    place: int
    items: int
    name: str
    question: str | None
    responses: tuple[str, str] | None
    image: str | None  # address
    said: GivenAnswer | None
    has_enough: bool


def sheets(ctx: ActionContext) -> list[ProjectView]:
    """Return the projects in which you may answer."""
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        projects = annotation_projects.projects(session, ctx.benchmark)
        return [
            _sheet(session, ctx.user, project=each)
            for each in projects
            if _may_answer(session, ctx.user, project=each.id)
        ]


@action("verification.sheet", "GET /api/v1/verification/{project}", role=Role.SUBMITTER, command="")
def sheet(ctx: ActionContext, project: ProjectNumber) -> ProjectView:
    """Show one of them: how many pairs, and which you have answered. Raises AuthError, NotFound."""
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        return _sheet(session, ctx.user, project=_open_to(session, ctx, project=project))


@action("verification.show", "GET /api/v1/verification/{project}/{place}", role=Role.SUBMITTER, command="")
def show(ctx: ActionContext, project: ProjectNumber, *, place: RowNumber) -> ShownPair:
    """Show a pair, its responses in your own order, and your answer. Raises AuthError, NotFound."""
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx, project=project)
        number = annotation_projects.annotators(session, project).get(ctx.user.account)
        pair = _pair(session, project, place=place)
        given = _answer(session, project, account=ctx.user.account, key=pair.item)
        enough = given is None and not _takes_answer(session, result, key=pair.item)
    if number is None and result.closed_at is None:
        with ctx.database.write() as session:
            number = _seat(session, ctx, project=_open_to(session, ctx, project=project, lock=True))
    order = annotation_order(number or 0, pair.item)
    query, responses, image = _content(ctx, project, place=place, pair=pair)
    name = pair.text.id if pair.text else pair_names(ctx.items.table).get(pair.item, pair.item[:12])
    return ShownPair(
        place,
        result.items,
        name,
        question=query,
        responses=(responses[order[0]], responses[order[1]]) if responses else None,
        image=image,
        said=_in_shown_order(given, order) if given else None,
        has_enough=enough,
    )


@action(
    "verification.answer",
    "PUT /api/v1/verification/{project}/{place}",
    role=Role.SUBMITTER,
    audit=ANSWERED,
    command="",
)
def answer(ctx: ActionContext, project: ProjectNumber, *, place: RowNumber, given_answer: GivenAnswer) -> ActionResult:
    """Keep an answer, over an earlier one.

    The same again changes nothing. A pair that others have answered as often as it needs takes no further answer.
    Raises AuthError, NotFound, Conflict.
    """
    _require_annotator(ctx.user)
    said = GivenAnswer(given_answer.verdict, tuple(given_answer.errors), note=given_answer.note)
    _check(said, tuple(ctx.items.table.spec.tag_of))
    account = ctx.user.account
    with ctx.database.write() as session:
        result = _open_to(session, ctx, project=project, lock=True)
        if result.closed_at is not None:
            raise Conflict("closed", _("{name} is closed: answers do not change any more.", name=result.name))
        key = _pair(session, project, place=place).item
        order = annotation_order(_seat(session, ctx, project=result), key)
        before = _answer(session, project, account=account, key=key)
        if before is not None and _in_shown_order(before, order) == said:
            return ActionResult(False, _("It is saved already."))
        if before is None and not _takes_answer(session, result, key=key):
            raise Conflict("enough-answers", _("This pair has as many answers as it needs. Answer another pair."))
        verdict = PREFERENCES[order[SEEN.index(said.verdict)]] if said.verdict in SEEN else said.verdict
        values = {"verdict": verdict, "errors": list(said.errors), "note": said.note}
        annotation_projects.save_answer(session, project, account=account, item=key, **values)
        # What was said is in the digest that closing puts on record, all answers together.
        facts = {"project": project, "place": place, "by": account, "via": ctx.user.auth_method}
        seq = audit.append(session, ANSWERED, data=facts)
    return ActionResult(True, _("Saved.") if before is None else _("Saved in place of your earlier answer."), seq=seq)


def image_of(ctx: ActionContext, project: int, *, place: int) -> Path | None:
    """Return the image of a pair of a file, for who may answer; None where there is none any more.

    Raises AuthError, NotFound.
    """
    _require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx, project=project)
        text = _pair(session, project, place=place).text
    return path_below(text.image, [Path(result.folder)], is_wanted=Path.is_file) if text and text.image else None


def _check(said: GivenAnswer, known_errors: Sequence[str]) -> None:
    """Raise Conflict where an answer cannot be kept. `known_errors`: those of the benchmark."""
    if said.verdict not in (*SEEN, *UNUSABLE):
        raise Conflict("bad-answer", _("An answer is one of {names}.", names=", ".join((*SEEN, *UNUSABLE))))
    if said.errors and not known_errors:
        raise Conflict("bad-error", _("Leave the errors out: this benchmark has no error tags."))
    if len(set(said.errors)) != len(said.errors) or set(said.errors) - set(known_errors):
        raise Conflict("bad-error", _("Errors are some of {names}, each once.", names=", ".join(known_errors)))
    if said.errors and said.verdict not in SEEN:
        raise Conflict("bad-error", _("Errors are those of the worse response: say which response is better, or none."))
    if len(said.note) > NOTE_LIMIT:
        raise Conflict("note-too-long", _("A note has at most {note_limit} characters.", note_limit=NOTE_LIMIT))
    if not said.note.isprintable():
        raise Conflict("bad-note", _("A note is one line of text."))


def _require_annotator(user: Identity) -> None:
    """Let a signed-in submitter go on. Raises AuthError for users without an identity of their own."""
    require(user, Role.SUBMITTER)
    if user.auth_method == "local" and Role.MAINTAINER not in user.roles:  # everybody has that account
        raise Forbidden(_("Without sign-in annotators cannot be distinguished."), user, needed=Role.MAINTAINER)


def _open_to(session: Session, ctx: ActionContext, *, project: int, lock: bool = False) -> Project:
    """Return the project, if the user may annotate in it; to others it does not exist. Raises NotFound."""
    result = known(session, ctx.benchmark, project=project, lock=lock)
    if not _may_answer(session, ctx.user, project=project):
        raise NotFound(_("There is no project {project}.", project=project))
    return result


def _may_answer(session: Session, user: Identity, *, project: int) -> bool:
    if Role.MAINTAINER in user.roles:
        return user.account not in annotation_projects.annotators(session, project, left_out=True)
    return user.account in annotation_projects.annotators(session, project)


def _seat(session: Session, ctx: ActionContext, *, project: Project) -> int:
    """Return the user's number among the annotators, which fixes the order of responses. The project is locked."""
    annotation_projects.add_annotators(session, project.id, accounts=[ctx.user.account])
    return annotation_projects.annotators(session, project.id)[ctx.user.account]


def _pair(session: Session, project: int, *, place: int) -> ProjectPair:
    pair = annotation_projects.pair_at(session, project, place=place)
    if pair is None:
        raise NotFound(_("Project {project} has no pair {place}.", project=project, place=place))
    return pair


def _content(
    ctx: ActionContext, project: int, *, place: int, pair: ProjectPair
) -> tuple[str | None, tuple[str, str] | None, str | None]:
    """Return question, responses (A, then B) and address of the image; None where the installation has none."""
    if pair.text is not None:
        image = f"/annotate/{project}/{place}/image" if pair.text.image else None
        return pair.text.query, pair.text.responses, image
    keys = [item.key for item in ctx.items.table.items]
    if pair.item not in keys:
        raise NotFound(_("This pair is not in the benchmark any more."))
    texts = ctx.items.texts[keys.index(pair.item)] if ctx.items.texts else None
    if texts is None:
        return None, None, None
    return texts.query, texts.responses, f"/explore/{pair.item}/image" if ctx.items.image(texts.image) else None


def _answer(session: Session, project: int, *, account: str, key: str) -> AnnotatorAnswer | None:
    return next(iter(annotation_projects.answers(session, project, account=account, item=key)), None)


def _takes_answer(session: Session, project: Project, *, key: str) -> bool:
    """Return whether a pair takes one more answer; the project must be locked before one is added."""
    given = annotation_projects.answers(session, project.id, item=key)
    return needs_answer([answer.verdict for answer in given if not answer.left_out], project.answers_wanted)


def _sheet(session: Session, user: Identity, *, project: Project) -> ProjectView:
    given = annotation_projects.answers(session, project.id)
    answered = sorted(answer.place for answer in given if answer.account == user.account)
    said: dict[int, list[str]] = {place: [] for place in range(1, project.items + 1) if place not in answered}
    for answer in given:
        if answer.place in said and not answer.left_out:
            said[answer.place].append(answer.verdict)
    waiting = [place for place, verdicts in said.items() if needs_answer(verdicts, project.answers_wanted)]
    return ProjectView(
        project.id,
        project.name,
        items=project.items,
        answered=answered,
        closed=project.closed_at is not None,
        waiting=sorted(waiting, key=lambda place: sha256(f"{user.account}\n{place}".encode()).digest()),
        answers_wanted=project.answers_wanted,
        guidelines=project.guidelines,
    )


def _in_shown_order(given: AnnotatorAnswer, order: Sequence[int]) -> GivenAnswer:
    verdict = given.verdict
    if verdict in PREFERENCES:
        verdict = SEEN[list(order).index(PREFERENCES.index(verdict))]
    return GivenAnswer(verdict, tuple(given.errors), note=given.note)
