"""Answers in an annotation project: what an annotator sees, and saving each answer.

Annotators are blind: no label is here to be shown, the responses come in an order that tells nothing, and the models
that wrote them are shown on demand, behind an answer that then stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from auth import Forbidden, Identity, Role, require
from auth.settings import IdentitySettings, Mode
from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import ActionResult, Conflict, NotFound
from review import project_pairs, views
from review.actions.projects import ProjectNumber, known
from review.given_answers import SEEN, GivenAnswer, Place, check, seen_verdict, stored_verdict
from review.presentation import ResponseOrder, give_order, recorded_order
from review.project_pairs import in_order
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project
from storage.database import Session
from storage.integrity import audit
from vlrb.common.messages import _
from vlrb.label_quality.annotation import needs_answer

__all__ = ["SEEN", "GivenAnswer"]

ANSWERED, MODELS_SEEN = "verification.answered", "verification.models-seen"
_NOT_BLIND = _("You can see how others answered this pair, so your answer would not be blind. Decide it instead.")
_ENOUGH = _("This pair has as many answers as it needs. Answer another pair.")


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
    models: tuple[str, str] | None  # only once they were asked for
    has_models: bool
    has_enough: bool = False


@action(
    "verification.sheets",
    "GET /api/v1/verification",
    place=5,
    role=Role.SUBMITTER,
    help="projects in which you may answer",
    command="",
)
def sheets(ctx: ActionContext) -> list[ProjectView]:
    """Return the projects in which you may answer."""
    require_annotator(ctx.user)
    with ctx.database.read() as session:
        projects = annotation_projects.projects(session, ctx.benchmark)
        return [
            _sheet(session, project, user=ctx.user)
            for project in projects
            if _may_answer(session, project.id, user=ctx.user)
        ]


@action(
    "verification.sheet",
    "GET /api/v1/verification/{project}",
    place=5,
    role=Role.SUBMITTER,
    help="one of them",
    command="",
)
def sheet(ctx: ActionContext, project: ProjectNumber) -> ProjectView:
    """Return one of them: how many pairs, and which you have answered.

    Raises AuthError, NotFound.
    """
    require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project)
        return _sheet(session, result, user=ctx.user)


@action(
    "verification.show",
    "GET /api/v1/verification/{project}/{place}",
    place=5,
    role=Role.SUBMITTER,
    help="a pair as you see it, and what you have answered",
    view=views.pair,
)
def show(ctx: ActionContext, project: ProjectNumber, *, place: Place) -> ShownPair:
    """Return a pair, its responses in your own order, and your answer.

    The first time it is shown to you, the order is recorded; half of the annotators of a pair see A first.
    Raises AuthError, NotFound.
    """
    require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project)
        key = item_of(session, project, place=place)
        given = annotation_projects.answer(session, project, account=ctx.user.account, item=key)
        pair = project_pairs.content(ctx, session, project=result, place=place)
        known_order = recorded_order(session, result, account=ctx.user.account, key=key)
        enough = given is None and not _takes_answer(_needs(session, result)[key], ctx.user)
    seen = known_order or _give_order(ctx, project, key=key)
    revealed = given is not None and given.models_seen_at is not None
    return ShownPair(
        place,
        result.items,
        pair.name,
        question=pair.query,
        responses=in_order(pair.responses, seen) if pair.responses else None,
        image=pair.image,
        said=_in_shown_order(given, seen) if given else None,
        models=in_order(pair.models, seen) if pair.models and revealed else None,
        has_models=pair.models is not None,
        has_enough=enough,
    )


def _give_order(ctx: ActionContext, project: int, *, key: str) -> ResponseOrder:
    with ctx.database.write() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project, lock=True)
        return give_order(session, result, account=ctx.user.account, key=key)


@action(
    "verification.answer",
    "PUT /api/v1/verification/{project}/{place}",
    place=5,
    role=Role.SUBMITTER,
    audit=ANSWERED,
    help="say which response is better, over an earlier answer",
)
def answer(ctx: ActionContext, project: ProjectNumber, *, place: Place, given_answer: GivenAnswer) -> ActionResult:
    """Keep an answer, over an earlier one.

    The same again changes nothing. A pair that others have answered as often as it needs takes no further answer.
    Raises AuthError, NotFound, Conflict.
    """
    require_annotator(ctx.user)
    refuse_terminal(ctx.user, ctx.identity)
    given_answer = replace(given_answer, errors=tuple(given_answer.errors))
    check(given_answer, ctx.items.table.spec.error_keys)
    with ctx.database.write() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project, lock=True)
        if result.closed_at is not None:
            raise Conflict("closed", _("{name} is closed: answers do not change any more.", name=result.name))
        key = item_of(session, project, place=place)
        seen = give_order(session, result, account=ctx.user.account, key=key)
        before = annotation_projects.answer(session, project, account=ctx.user.account, item=key)
        if before is not None and _in_shown_order(before, seen) == given_answer:
            return ActionResult(False, _("It is saved already."))
        if before is None:
            _refuse_late(session, result, key=key, user=ctx.user)
        verdict = stored_verdict(given_answer.verdict, seen)
        if before is not None and before.models_seen_at is not None and before.verdict != verdict:
            raise Conflict("models-seen", _("You have seen which models wrote these, so your preference is final."))
        annotation_projects.add_annotators(session, project, accounts=[ctx.user.account])
        values = {"verdict": verdict, "errors": list(given_answer.errors), "note": given_answer.note}
        annotation_projects.save_answer(session, project, account=ctx.user.account, item=key, **values)
        # What was said is in the digest that closing puts on record, all answers together.
        seq = audit.append(
            session,
            ANSWERED,
            data={"project": project, "place": place, "by": ctx.user.account, "via": ctx.user.auth_method},
        )
    return ActionResult(True, _("Saved.") if before is None else _("Saved in place of your earlier answer."), seq=seq)


@action(
    "verification.models",
    "POST /api/v1/verification/{project}/{place}/models",
    place=5,
    role=Role.SUBMITTER,
    audit=MODELS_SEEN,
    help="tell who wrote the responses; your preference stays from then on",
    view=views.pair,
)
def show_models(ctx: ActionContext, project: ProjectNumber, *, place: Place) -> ShownPair:
    """Tell which models wrote the responses; your preference stays from then on.

    Raises AuthError, NotFound, Conflict.
    """
    require_annotator(ctx.user)
    refuse_terminal(ctx.user, ctx.identity)
    with ctx.database.write() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project, lock=True)
        key = item_of(session, project, place=place)
        if project_pairs.content(ctx, session, project=result, place=place).models is None:
            raise Conflict("no-models", _("We do not know which models wrote these."))
        if annotation_projects.answer(session, project, account=ctx.user.account, item=key) is None:
            raise Conflict("no-answer", _("Answer first: knowing who wrote a response could bias you."))
        if annotation_projects.record_model_reveal(session, project, account=ctx.user.account, item=key):
            facts = {"project": project, "place": place, "by": ctx.user.account, "via": ctx.user.auth_method}
            audit.append(session, MODELS_SEEN, data=facts)
    return show(ctx, project, place=place)


def image_of(ctx: ActionContext, project: int, *, place: int) -> Path | None:
    """Return the image of a pair of a file, for who may answer. Raises AuthError, NotFound."""
    require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx.user, benchmark=ctx.benchmark, project=project)
        text = annotation_projects.text_of(session, project, item=item_of(session, project, place=place))
    return project_pairs.image_file(text, result)


def require_annotator(user: Identity) -> None:
    """Let a signed-in submitter go on. Raises AuthError for users without an identity of their own."""
    require(user, Role.SUBMITTER)
    if user.auth_method == "local" and Role.MAINTAINER not in user.roles:  # everybody has that account
        raise Forbidden(_("Without sign-in annotators cannot be distinguished."), user, needed=Role.MAINTAINER)


def refuse_terminal(user: Identity, settings: IdentitySettings | None) -> None:
    """Refuse the local user where people sign in: answers are theirs, and not the machine's. Raises Conflict."""
    if user.auth_method == "local" and settings is not None and settings.mode is Mode.OPENID:
        raise Conflict("sign-in-needed", _("Answer at /annotate or over REST, where it is known who you are."))


def _may_answer(session: Session, project: int, *, user: Identity) -> bool:
    if user.account in annotation_projects.left_out(session, project):
        return False
    return Role.MAINTAINER in user.roles or user.account in annotation_projects.annotators(session, project)


class _Needs(NamedTuple):
    """Whether a pair needs one more answer, and whether annotators disagree about it."""

    answer: bool
    contested: bool


def _needs(session: Session, project: Project) -> dict[str, _Needs]:
    """Return item key -> what the pair needs; the project must be locked before an answer is added."""
    given: dict[str, list[str]] = {item.item: [] for item in annotation_projects.items(session, project.id)}
    left_out = annotation_projects.left_out(session, project.id)
    for answer in annotation_projects.answers(session, project.id):
        if answer.account not in left_out:
            given[answer.item].append(answer.verdict)
    wanted = project.answers_wanted
    return {item: _Needs(needs_answer(said, wanted), len(said) >= wanted) for item, said in given.items()}


def _takes_answer(needs: _Needs, user: Identity) -> bool:
    """Return whether a pair takes a first answer of the user: maintainers may have seen those of contested pairs."""
    return needs.answer and not (needs.contested and Role.MAINTAINER in user.roles)


def _refuse_late(session: Session, project: Project, *, key: str, user: Identity) -> None:
    """Raise Conflict where a pair takes no first answer of the user."""
    needs = _needs(session, project)[key]
    if not needs.answer:
        raise Conflict("enough-answers", _ENOUGH)
    if needs.contested and Role.MAINTAINER in user.roles:
        raise Conflict("contested", _NOT_BLIND)


def _open_to(session: Session, user: Identity, *, benchmark: str, project: int, lock: bool = False) -> Project:
    """Return the project, if somebody may annotate in it; to others it does not exist."""
    result = known(session, benchmark, project=project, lock=lock)
    if not _may_answer(session, project, user=user):
        raise NotFound(_("There is no project {project}.", project=project))
    return result


def _sheet(session: Session, project: Project, *, user: Identity) -> ProjectView:
    answered = annotation_projects.answered(session, project.id, account=user.account)
    return ProjectView(
        project.id,
        project.name,
        items=project.items,
        answered=answered,
        closed=project.closed_at is not None,
        waiting=_waiting(session, project, user=user, answered=answered),
        answers_wanted=project.answers_wanted,
        guidelines=project.guidelines,
    )


def _waiting(session: Session, project: Project, *, user: Identity, answered: Sequence[int]) -> list[int]:
    """Return the places that still need somebody's answer, in an order of the user's own."""
    needs = _needs(session, project)
    left = [
        place for place, item in enumerate(needs, start=1) if place not in answered and _takes_answer(needs[item], user)
    ]
    return sorted(left, key=lambda place: sha256(f"{user.account}\n{place}".encode()).digest())


def item_of(session: Session, project: int, *, place: int) -> str:
    """Return the key of the pair at a place. Raises NotFound."""
    key = annotation_projects.item_at(session, project, place=place)
    if key is None:
        raise NotFound(_("Project {project} has no pair {place}.", project=project, place=place))
    return key


def _in_shown_order(given: AnnotatorAnswer, seen: Sequence[int]) -> GivenAnswer:
    return GivenAnswer(seen_verdict(given.verdict, seen), tuple(given.errors), note=given.note)
