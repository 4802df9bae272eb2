"""Annotation projects about candidates of a pool. Their answers make an edition, and no label revision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from maintenance.action_context import ActionContext
from maintenance.actions.pools import PoolNumber
from maintenance.registry import ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer
from review.actions.projects import (
    CLOSED,
    CREATED,
    FirstAccounts,
    ProjectName,
    ProjectNumber,
    add_accounts,
    answers_digest,
    check_name,
    known,
)
from storage.annotation import adjudications, annotation_projects, pools
from storage.annotation.annotation_projects import NewProject
from storage.integrity import audit
from vlrb.common.messages import _, ngettext

MOST_ANSWERS = 100
POOL = "pool"
"""What an audit event says instead of how pairs of a benchmark were chosen."""


@dataclass(frozen=True, slots=True)
class VerificationTeam:
    """Who verifies, and how many answers a pair needs."""

    answers: Annotated[
        int,
        Field(ge=1, le=MOST_ANSWERS),
        ParamInfo("Answers per pair", option="--answers", metavar="N", help="people who answer each pair (2)"),
    ] = 2
    annotators: FirstAccounts = ()
    adjudicators: Annotated[
        Sequence[str],
        ParamInfo(
            "Adjudicators",
            "user names or ids, with commas",
            option="--adjudicator",
            metavar="ACCOUNT",
            separator=",",
            help="who decides where annotators differ",
        ),
    ] = ()


@action(
    "pools.verify",
    "POST /api/v1/maintenance/pools/{pool}/verification",
    audit=CREATED,
    help="start a verification project about its pairs",
    button="Start a verification project",
)
def verify_pool(
    ctx: ActionContext, pool: PoolNumber, *, project: ProjectName, reason: Reason, team: VerificationTeam
) -> ActionResult:
    """Start a verification project about all pairs of a pool, its gold pairs among them. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    if not 1 <= team.answers <= MOST_ANSWERS:
        raise Conflict(
            "bad-answers",
            _(
                "A pair needs 1 to {most_answers} answers, not {answers}.",
                most_answers=MOST_ANSWERS,
                answers=team.answers,
            ),
        )
    with ctx.database.write() as session:
        audit.acquire_chain_lock(session)
        result = pools.pool(session, ctx.benchmark, pool_id=pool)
        if result is None:
            raise NotFound(_("There is no pool {pool}.", pool=pool))
        check_name(session, ctx.benchmark, name=project)
        candidates = pools.candidates(session, pool)
        new = NewProject(
            project, "", reason=why, created_by=ctx.user.account, pool_id=pool, answers_wanted=team.answers
        )
        number = annotation_projects.create(
            session, ctx.benchmark, new=new, items=[candidate.item for candidate in candidates]
        )
        if gold := {candidate.item: candidate.gold for candidate in candidates if candidate.gold}:
            adjudications.set_gold(session, number, verdicts=gold)
        added = add_accounts(session, number, accounts=team.annotators, add=annotation_projects.add_annotators)
        deciding = add_accounts(session, number, accounts=team.adjudicators, add=adjudications.add_adjudicators)
        facts = {"project": number, "name": project, "which": POOL, "pool": pool, "items": len(candidates)}
        facts |= {"gold": len(gold), "answers": team.answers, "annotators": added, "adjudicators": deciding}
        seq = audit.append(session, CREATED, data={**facts, "reason": why, "by": ctx.user.account})
    size = ngettext(
        "{n:,} pair, {gold} of them gold", "{n:,} pairs, {gold} of them gold", len(candidates), gold=len(gold)
    )
    return ActionResult(
        True,
        _("Project {number} ({project}) has {size}: /annotate/{number}", number=number, project=project, size=size),
        seq=seq,
    )


@action(
    "verification.finish",
    "POST /api/v1/maintenance/verification/{project}/finish",
    place=6,
    audit=CLOSED,
    help="end a project about candidates; `editions export` makes an edition of it",
    button="Close without a draft",
    danger=True,
)
def finish(ctx: ActionContext, project: ProjectNumber, *, reason: Reason) -> ActionResult:
    """End a project about candidates of a pool: no answer changes any more. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        if result.pool_id is None:
            raise Conflict(
                "no-pool", _("{name} is about labels: `verification close` drafts a revision of it.", name=result.name)
            )
        if not annotation_projects.close(session, project, by=ctx.user.account):
            return ActionResult(False, _("{name} is closed already.", name=result.name))
        facts = {"project": project, **answers_digest(session, project), "reason": why}
        seq = audit.append(session, CLOSED, data={**facts, "by": ctx.user.account, "via": ctx.user.auth_method})
    return ActionResult(True, _("{name} is closed.", name=result.name), seq=seq)
