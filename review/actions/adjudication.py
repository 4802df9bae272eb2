"""Adjudication: pairs on which annotators disagree go to somebody who has not annotated them, and whose answer counts.

Adjudicators see what the annotators said, not who said it. A draft label is shown after the decision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from auth import Role
from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import ActionResult, Conflict, NotFound, require_maintainer
from review import project_pairs, text_output
from review.actions.answers import ShownDraft, item_of, refuse_terminal, require_annotator, shown_draft
from review.actions.projects import Accounts, ProjectNumber, add_accounts, known
from review.adjudication_queue import TWO, contested
from review.given_answers import GivenAnswer, Place, check, seen_verdict, stored_verdict
from review.project_pairs import in_order
from storage.annotation import adjudications, annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project
from storage.database import Session
from storage.integrity import audit
from vlrb.common.messages import _
from vlrb.label_quality.annotation import annotation_order

ADJUDICATORS, ADJUDICATED = "verification.adjudicators", "verification.adjudicated"


class ContestedPair(NamedTuple):
    """A pair with differing answers, as an adjudicator sees it. `answers`: of annotators, in no telling order."""

    place: int
    items: int
    question: str | None
    responses: tuple[str, str] | None
    image: str | None  # address
    answers: list[GivenAnswer]
    said: GivenAnswer | None
    draft: ShownDraft | None
    has_draft: bool
    models: None = None
    has_models: bool = False
    first_answer: None = None
    has_enough: bool = False


@action(
    "verification.adjudicators",
    "POST /api/v1/maintenance/verification/{project}/adjudicators",
    place=2,
    audit=ADJUDICATORS,
    help="let people decide where annotators disagree",
    button="Let them adjudicate",
)
def add_adjudicators(ctx: ActionContext, project: ProjectNumber, *, annotators: Accounts) -> ActionResult:
    """Let accounts decide pairs on which annotators disagree. For maintainers, who may always.

    Nobody decides a pair that the same account has annotated. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        added = add_accounts(session, project, accounts=annotators, add=adjudications.add_adjudicators)
        if not added:
            return ActionResult(False, _("They may adjudicate already."))
        facts = {"project": project, "adjudicators": added, "by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, ADJUDICATORS, data=facts)
    return ActionResult(True, _("{count} more may adjudicate in {name}.", count=len(added), name=result.name), seq=seq)


@action(
    "verification.disagreement",
    "GET /api/v1/verification/{project}/disagreements/{place}",
    place=2,
    role=Role.SUBMITTER,
    help="a pair on which annotators disagree, with their answers",
    text=text_output.contested_pair,
)
def disagreement(ctx: ActionContext, project: ProjectNumber, *, place: Place) -> ContestedPair:
    """Return a pair on which annotators disagree, for an adjudicator who has not annotated it.

    Raises AuthError, NotFound, Conflict.
    """
    require_annotator(ctx.user)
    with ctx.database.read() as session:
        result = _open_to(session, ctx, project=project)
        key = item_of(session, project, place=place)
        answers = _disagreeing(session, ctx, project=result, key=key)
        decided = adjudications.decisions(session, project).get(key)
        pair = project_pairs.content(ctx, session, project=result, place=place, key=key)
    seen = annotation_order(ctx.user.account, key)
    given_answers = [
        GivenAnswer(seen_verdict(answer.verdict, seen), tuple(answer.errors), note=answer.note) for answer in answers
    ]
    own = None
    if decided is not None:
        own = GivenAnswer(seen_verdict(decided.verdict, seen), tuple(decided.errors), note=decided.note)
    return ContestedPair(
        place,
        result.items,
        question=pair.query,
        responses=in_order(pair.responses, seen) if pair.responses else None,
        image=pair.image,
        answers=sorted(given_answers, key=lambda answer: (answer.verdict, answer.errors, answer.note)),
        said=own,
        draft=shown_draft(pair.draft, seen) if own else None,
        has_draft=pair.draft is not None,
    )


@action(
    "verification.adjudicate",
    "PUT /api/v1/verification/{project}/disagreements/{place}",
    place=2,
    role=Role.SUBMITTER,
    audit=ADJUDICATED,
    help="decide a pair on which annotators disagree, over an earlier decision of yours",
)
def adjudicate(ctx: ActionContext, project: ProjectNumber, *, place: Place, given_answer: GivenAnswer) -> ActionResult:
    """Decide a pair on which annotators disagree: the answer counts instead of theirs.

    Raises AuthError, NotFound, Conflict.
    """
    require_annotator(ctx.user)
    refuse_terminal(ctx.user, ctx.identity)
    given_answer = replace(given_answer, errors=tuple(given_answer.errors))
    check(given_answer, ctx.items.table.spec.error_keys)
    with ctx.database.write() as session:
        result = _open_to(session, ctx, project=project, lock=True)
        if result.closed_at is not None:
            raise Conflict("closed", _("{name} is closed: answers do not change any more.", name=result.name))
        key = item_of(session, project, place=place)
        _disagreeing(session, ctx, project=result, key=key)
        verdict = stored_verdict(given_answer.verdict, annotation_order(ctx.user.account, key))
        before = adjudications.decisions(session, project).get(key)
        values = {"verdict": verdict, "errors": list(given_answer.errors), "note": given_answer.note}
        if before is not None and before[1:] == (ctx.user.account, *values.values()):
            return ActionResult(False, _("It is saved already."))
        adjudications.add_adjudicators(session, project, [ctx.user.account])
        adjudications.decide(session, project, item=key, account=ctx.user.account, **values)
        facts = {"project": project, "place": place, "by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, ADJUDICATED, data=facts)
    return ActionResult(True, "Decided." if before is None else _("Saved in place of your earlier decision."), seq=seq)


def _open_to(session: Session, ctx: ActionContext, *, project: int, lock: bool = False) -> Project:
    """Return the project, if the user may adjudicate in it; to others it does not exist."""
    result = known(session, ctx.benchmark, project=project, lock=lock)
    if Role.MAINTAINER in ctx.user.roles or ctx.user.account in adjudications.adjudicators(session, project):
        return result
    raise NotFound(_("There is no project {project}.", project=project))


def _disagreeing(session: Session, ctx: ActionContext, *, project: Project, key: str) -> list[AnnotatorAnswer]:
    """Return the answers that the user may see and decide about. Raises Conflict where there are none."""
    answers = annotation_projects.answers(session, project.id)
    if any(answer.account == ctx.user.account for answer in answers if answer.item == key):
        raise Conflict("own-answer", _("You have annotated this pair, so somebody else decides it."))
    decided = adjudications.decisions(session, project.id).get(key)
    if decided is not None and decided.account != ctx.user.account:
        raise Conflict("decided", _("Another adjudicator has decided this pair."))
    answers_of_pair = contested(answers, project.answers_wanted or TWO).get(key)
    if answers_of_pair is None and decided is None:
        raise Conflict("no-disagreement", _("Annotators do not disagree about this pair."))
    return answers_of_pair if answers_of_pair is not None else [answer for answer in answers if answer.item == key]
