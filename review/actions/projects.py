"""Annotation projects for maintainers: items, annotators, agreement, and the draft revision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from maintenance.action_context import ActionContext
from maintenance.actions import account_search, labels
from maintenance.actions.labels import AS_USUAL, DisclosureLevel, level_of
from maintenance.database import queries
from maintenance.registry import DraftName, ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer, whole_number
from review import drafts, text_output
from review.gold_results import GoldResult, gold_results
from review.items import find_item
from storage.annotation import annotation_projects, disputes
from storage.annotation.annotation_projects import NewProject, Project
from storage.database import LARGEST, Session
from storage.integrity import audit
from storage.jobs import tasks
from storage.jobs.tasks import TaskView
from storage.labels import label_imports
from vlrb.benchmarks.items import ItemTable
from vlrb.common.canonical_json import canonical_json
from vlrb.common.messages import _, ngettext
from vlrb.label_quality.annotation import PairAgreement, agreement

CREATED, ANNOTATORS, CLOSED = "verification.created", "verification.annotators", "verification.closed"
FEWEST_ANSWERS, MOST_ANSWERS = 2, 100
"""Answers of a pair: nobody changes a label alone."""
ALL, DISPUTED, CANDIDATES, LISTED = WHICH = ("all", "disputed", "candidates", "listed")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")

ProjectNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo("Project", "its number", read=whole_number)]
ProjectName = Annotated[str, ParamInfo("New project", "may-2026", metavar="project")]
OldRevision = Annotated[
    str, ParamInfo("From revision", "v2", option="--base", help="the label revision that its draft will change")
]
Accounts = Annotated[
    Sequence[str],
    ParamInfo(
        "Annotators", "user names or ids, with commas", metavar="account", separator=",", help="ids or user names"
    ),
]
FirstAccounts = Annotated[
    Sequence[str],
    ParamInfo(
        "Annotators",
        "user names or ids, with commas",
        option="--annotator",
        metavar="ACCOUNT",
        separator=",",
        help="who may answer",
    ),
]


@dataclass(frozen=True, slots=True)
class PairSelection:
    """All items of the base revision, those with open or accepted disputes, the candidates, or those in `items`."""

    which: Annotated[
        str,
        ParamInfo("Pairs", option="--items", metavar="{all,disputed,candidates}", choices=WHICH, exclusive="pairs"),
    ] = ""
    items: Annotated[
        Sequence[str],
        ParamInfo(
            "Listed pairs",
            "keys or ids, with commas",
            option="--item",
            exclusive="pairs",
            separator=",",
            help="only this one, by key or id",
        ),
    ] = ()


@dataclass(frozen=True, slots=True)
class AnnotationTeam:
    """Who answers, and how many answers a pair needs."""

    answers: Annotated[
        int,
        Field(ge=FEWEST_ANSWERS, le=MOST_ANSWERS),
        ParamInfo("Answers per pair", option="--answers", metavar="N", help="people who answer each pair (2)"),
    ] = FEWEST_ANSWERS
    annotators: FirstAccounts = ()


class AnnotatorProgress(NamedTuple):
    """Number of pairs that an annotator has answered, gold pairs among them, and how many of these rightly."""

    account: str
    name: str
    answered: int
    gold: int = 0
    gold_right: int = 0
    below_gold_minimum: bool = False


class ProjectReport(NamedTuple):
    """A project with its progress and agreement. `draft`: the newest draft made of it, and what the worker counted."""

    project: Project
    progress: tuple[AnnotatorProgress, ...]
    agreement: tuple[PairAgreement, ...]
    draft: str | None
    result: dict[str, Any] | None
    gold: int = 0


@action(
    "verification.start",
    "POST /api/v1/maintenance/verification",
    help="start a project",
    audit=CREATED,
    button="Start the project",
)
def create(
    ctx: ActionContext,
    name: ProjectName,
    base: OldRevision,
    reason: Reason,
    pairs: PairSelection,
    team: AnnotationTeam = AnnotationTeam(),
) -> ActionResult:
    """Start a project. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    _check_answers(team.answers)
    which = pairs.which or (LISTED if pairs.items else DISPUTED)
    if which not in WHICH or (which == LISTED) != bool(pairs.items):
        raise Conflict("bad-items", _("Choose all, disputed or candidates, or listed with the pairs."))
    listed = {ctx.items.table.items[find_item(ctx.items.table, item)].key for item in pairs.items}
    with ctx.database.write() as session:
        audit.acquire_chain_lock(session)
        drafts.check_base(session, ctx.items.table.benchmark, base=base)
        _check_name(session, ctx.items.table.benchmark, name=name)
        keys = _chosen(session, ctx.items.table, base=base, which=which, listed=listed)
        if not keys:
            raise Conflict("no-items", _("There are no {which} pairs.", which=_(which)))
        new = NewProject(name, base, reason=why, created_by=ctx.user.account, answers_wanted=team.answers)
        project = annotation_projects.create(session, ctx.items.table.benchmark, new=new, items=keys)
        added = _add_accounts(session, project, accounts=team.annotators)
        facts = {
            "project": project,
            "name": name,
            "base": base,
            "which": which,
            "items": len(keys),
            "answers": team.answers,
        }
        seq = audit.append(session, CREATED, data={**facts, "annotators": added, "reason": why, "by": ctx.user.account})
    return ActionResult(
        True,
        _(
            "Project {project} ({name}) has {count}: /annotate/{project}",
            project=project,
            name=name,
            count=ngettext("{n:,} pair", "{n:,} pairs", len(keys)),
        ),
        seq=seq,
    )


@action(
    "verification.annotators",
    "POST /api/v1/maintenance/verification/{project}/annotators",
    audit=ANNOTATORS,
    help="let more people answer",
    button="Let the annotators answer",
)
def add_annotators(ctx: ActionContext, project: ProjectNumber, *, annotators: Accounts) -> ActionResult:
    """Let accounts, named by ids or user names, answer in a project. For maintainers, who may always.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        added = _add_accounts(session, project, accounts=annotators)
        if not added:
            return ActionResult(False, _("They may answer already."))
        facts = {"project": project, "annotators": added, "by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, ANNOTATORS, data=facts)
    return ActionResult(True, _("{count} more may answer in {name}.", count=len(added), name=result.name), seq=seq)


@action(
    "verification.close",
    "POST /api/v1/maintenance/verification/{project}/close",
    audit=CLOSED,
    help="end a project; a worker writes its draft",
    waits=labels.UNTIL_DONE,
    task=drafts.DRAFT,
    retry=lambda ctx, failed: _close_again(ctx, failed),
    button="Close and draft",
    danger=True,
)
def close(
    ctx: ActionContext,
    project: ProjectNumber,
    *,
    revision: DraftName,
    reason: Reason,
    level: DisclosureLevel = AS_USUAL,
) -> ActionResult:
    """End a project and have a worker write its draft revision. For maintainers.

    Of a closed project another draft can be asked for, under another name. `level`: what may be shown of scores under
    it, as of the base's if left out. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        if not annotation_projects.answers(session, project):
            raise Conflict("no-answers", _("Nobody has answered in {name} yet.", name=result.name))
        if (written := _written(session, ctx.benchmark, project=project, revision=revision)) is not None:
            return ActionResult(
                False,
                _("{name} is closed, and its draft {revision} is written.", name=result.name, revision=revision),
                task_id=written,
            )
        draft = drafts.DraftRequest(
            revision, result.base_revision, reason=why, source={"project": project}, level=level
        )
        task, new = drafts.request(session, ctx, draft=draft)
        seq = None
        if annotation_projects.close(session, project, by=ctx.user.account):
            facts = {"project": project, **_answers_digest(session, project), "draft": revision}
            seq = audit.append(
                session, CLOSED, data={**facts, "reason": why, "by": ctx.user.account, "via": ctx.user.auth_method}
            )
    return ActionResult(
        new,
        _(
            "{name} is closed; a worker writes draft {revision} (task {task}).",
            name=result.name,
            revision=revision,
            task=task,
        ),
        seq=seq,
        task_id=task,
    )


def _close_again(ctx: ActionContext, failed: TaskView) -> ActionResult | None:
    if "project" not in failed.params:
        return None
    return close(ctx, failed.params["project"], revision=failed.subject, reason=failed.reason, level=level_of(failed))


def _written(session: Session, benchmark: str, *, project: int, revision: str) -> int | None:
    """Return the task that wrote this draft from this project's answers; None where it is not there."""
    asked = tasks.latest(session, 200, kind=drafts.DRAFT, benchmark=benchmark)
    mine = [task.id for task in asked if (task.subject, task.params.get("project")) == (revision, project)]
    return mine[0] if mine and revision in label_imports.names(session, benchmark) else None


@action(
    "verification.list",
    "GET /api/v1/maintenance/verification",
    help="progress, agreement, drafts",
    text=text_output.projects,
)
def reports(ctx: ActionContext) -> list[ProjectReport]:
    """Return all projects, the newest first. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        projects = annotation_projects.projects(session, ctx.benchmark)
        drafted = {}
        for task in reversed(tasks.latest(session, 200, kind=drafts.DRAFT, benchmark=ctx.benchmark)):
            drafted[task.params.get("project")] = (task.subject, tasks.result(session, task.id))
        nothing = (None, None)
        reports = []
        for project in projects:
            draft, result = drafted.get(project.id, nothing)
            reports.append(_report(session, project, draft=draft, result=result))
        return reports


def known(session: Session, benchmark: str, *, project: int, lock: bool = False) -> Project:
    """Return a project. Raises NotFound."""
    result = annotation_projects.project(session, benchmark, project_id=project, lock=lock)
    if result is None:
        raise NotFound(_("There is no project {project}.", project=project))
    return result


def _check_answers(answers: int) -> None:
    """Raise Conflict where a pair cannot need so many answers."""
    if not FEWEST_ANSWERS <= answers <= MOST_ANSWERS:
        raise Conflict(
            "bad-answers",
            _(
                "A pair needs {fewest} to {most_answers} answers, not {answers}.",
                fewest=FEWEST_ANSWERS,
                most_answers=MOST_ANSWERS,
                answers=answers,
            ),
        )


def _check_name(session: Session, benchmark: str, *, name: str) -> None:
    """Raise Conflict where a project cannot have this name, or one has it."""
    if not _NAME.fullmatch(name):
        raise Conflict("bad-name", _("Name the project with small letters, digits, dots and dashes, for instance may."))
    if any(project.name == name for project in annotation_projects.projects(session, benchmark)):
        raise Conflict("known-project", _("There is a project {name}. Choose another name.", name=name))


def _report(session: Session, project: Project, *, draft: str | None, result: dict[str, Any] | None) -> ProjectReport:
    answers = annotation_projects.answers(session, project.id)
    known_right = annotation_projects.gold(session, project.id)
    given: dict[str, dict[str, str]] = {name: {} for name in annotation_projects.annotators(session, project.id)}
    for answer in answers:
        given[answer.account][answer.item] = answer.verdict
    results = gold_results(answers, known_right)
    progress = tuple(
        _progress(session, account, answered=len(verdicts), gold=results.get(account))
        for account, verdicts in given.items()
    )
    return ProjectReport(
        project,
        progress,
        agreement=agreement(given, annotation_projects.items(session, project.id)),
        draft=draft,
        result=result,
        gold=len(known_right),
    )


def _progress(session: Session, account: str, *, answered: int, gold: GoldResult | None) -> AnnotatorProgress:
    name = queries.account_name(session, account) or account
    if gold is None:
        return AnnotatorProgress(account, name, answered=answered)
    return AnnotatorProgress(
        account,
        name,
        answered=answered,
        gold=gold.answered,
        gold_right=gold.right,
        below_gold_minimum=gold.below_minimum,
    )


def _chosen(session: Session, table: ItemTable, *, base: str, which: str, listed: set[str]) -> list[str]:
    """Return item keys in the order of the table, which tells nothing."""
    if which == ALL:
        held = table.in_revision(base) if base in table.revisions else range(len(table))
        return [table.items[index].key for index in sorted(held)]
    if which == DISPUTED:
        wanted = {state.item for state in disputes.in_states(session, table.benchmark, states=("open", "accepted"))}
    else:
        wanted = listed if which == LISTED else set(disputes.candidates(session, table.benchmark))
    return [item.key for item in table.items if item.key in wanted]


def _add_accounts(session: Session, project: int, *, accounts: Sequence[str]) -> list[str]:
    """Let accounts, named by ids or user names, answer in a project; returns those that could not before."""
    ids = [account_search.find(session, named, local=True).id for named in accounts]
    return annotation_projects.add_annotators(session, project, list(dict.fromkeys(ids)))


def _answers_digest(session: Session, project: int) -> dict[str, Any]:
    """Return what closing puts on record: how many answers there are, and the digest of all of them."""
    given = annotation_projects.answers(session, project)
    rows = [[answer.item, answer.account, answer.verdict, sorted(answer.errors), answer.note] for answer in given]
    digest = hashlib.sha256(canonical_json({"answers": rows}).encode("ascii")).hexdigest()
    return {"answers": len(given), "answers_sha256": digest}
