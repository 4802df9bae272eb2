"""Annotation projects for maintainers: items, annotators, agreement, and the draft revision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from maintenance.action_context import ActionContext
from maintenance.actions import accounts, labels
from maintenance.actions.labels import Disclosure, stated_level
from maintenance.database import account_queries
from maintenance.registry import ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, plural, whole_number
from maintenance.view import Row, Table, TableCell, View
from review.selection import FEWEST_ANSWERS, MOST_ANSWERS, ProjectPlan, find_pair_file, select_pairs
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import Project
from storage.annotation.pair_decisions import decided_pairs
from storage.clock import minute
from storage.database import LARGEST, Session
from storage.integrity import audit
from vlrb.common.canonical_json import canonical_json
from vlrb.common.messages import _
from vlrb.label_quality.annotation import (
    AGREED,
    CONTESTED,
    GOLD,
    GOLD_MINIMUM,
    OPEN,
    PAIR_STATES,
    PairAgreement,
    agreement,
    preference_of,
)

CREATED, CLOSED = "verification.created", "verification.closed"
ANNOTATORS, LEFT_OUT = "verification.annotators", "verification.left-out"
LONGEST_GUIDELINES = 5000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")

ProjectNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo("Project", "its number", read=whole_number)]
ProjectName = Annotated[str, ParamInfo("New project", "may-2026", metavar="project")]
OldRevision = Annotated[
    str,
    ParamInfo(
        "From revision",
        "v2",
        option="--base",
        help="the label revision that its draft will change; none: a file's pairs",
    ),
]
ClosedDraft = Annotated[
    str, ParamInfo("Draft", "v3-verified", help="name of the draft; none of a project about a file")
]
Accounts = Annotated[
    Sequence[str],
    ParamInfo("Annotators", "user names or ids, with commas", metavar="account", help="ids or user names"),
]


class AnnotatorProgress(NamedTuple):
    """Number of pairs that an annotator has answered, gold pairs among them, and how many of these rightly."""

    account: str
    name: str
    answered: int
    gold: int
    gold_right: int
    below_gold_minimum: bool


class ProjectReport(NamedTuple):
    """A project with its progress and agreement. `states`: number of pairs that are gold, decided, agreed and so on."""

    project: Project
    progress: tuple[AnnotatorProgress, ...]
    agreement: tuple[PairAgreement, ...]
    states: dict[str, int]


def _shown(reports: Sequence[ProjectReport]) -> View:
    head = ("No.", "Project", "State", "From", "Pairs", "Answered", "Decisions", "Agreement")
    rows, nothing = [_row(report) for report in reports], "There are no projects."
    return View(tables=[Table("Projects", head, rows, nothing, "project", False, shows="verification.decisions")])


def _row(report: ProjectReport) -> Row:
    project, closed_at = report.project, report.project.closed_at
    name = TableCell(project.name, link=f"/annotate/{project.id}")
    state = "open" if closed_at is None else f"closed {minute(closed_at)}"
    answered = "; ".join(f"{user.name} {_progress(user)}" for user in report.progress)
    states = ", ".join(f"{each} {number}" for each, number in report.states.items() if number)
    about = (project.id, name, state, project.base_revision or "a file", project.items)
    without = () if closed_at is None else ("verification.annotators", "verification.leave-out")
    cells = (*about, answered, states, "; ".join(_agreements(report)))
    return Row(cells, key=f"{project.id}", name=project.name, without=without)


def _progress(user: AnnotatorProgress) -> str:
    """Return how much an annotator has answered, and how well gold pairs among it."""
    if not user.gold:
        return f"{user.answered}"
    mark = f", below {100 * GOLD_MINIMUM:.0f}%" if user.below_gold_minimum else ""
    return f"{user.answered} (gold {user.gold_right} of {user.gold} right{mark})"


def _agreements(report: ProjectReport) -> list[str]:
    """Return every two annotators."""
    names = {user.account: user.name for user in report.progress}
    return [
        f"{names[pair.first]} and {names[pair.second]}: {pair.same} of {pair.items} the same, kappa "
        + ("undefined" if pair.kappa is None else f"{pair.kappa:.2f}")
        for pair in report.agreement
    ]


@action("verification.start", "POST /api/v1/maintenance/verification", audit=CREATED, button="Start the project")
def create(
    ctx: ActionContext,
    name: ProjectName,
    *,
    base: OldRevision = "",
    reason: Reason,
    plan: ProjectPlan,
) -> ActionResult:
    """Start a project about pairs of a label revision, or about those of a file. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    why, guidelines = clean_reason(reason), _check_plan(plan)
    with ctx.database.write() as session:
        audit.acquire_chain_lock(session)
        if base:
            labels.check_usable(session, ctx.benchmark, revision=base)
        _check_name(session, ctx.benchmark, name=name)
        items = select_pairs(ctx.items.table, ctx.import_dirs, base=base, plan=plan)
        project = annotation_projects.create(
            session,
            ctx.benchmark,
            pairs=items,
            name=name,
            base_revision=base,
            reason=why,
            created_by=ctx.user.account,
            answers_wanted=plan.answers,
            guidelines=guidelines,
            folder=str(find_pair_file(plan.file, ctx.import_dirs).parent) if plan.file and not base else "",
        )
        gold = sum(item.gold is not None for item in items)
        facts = {"project": project, "name": name, "base": base, "items": len(items), "gold": gold}
        facts |= {"answers": plan.answers, "reason": why, "by": ctx.user.account}
        seq = audit.append(session, CREATED, data=facts)
    size = plural(len(items), "pair") + (f", {gold} of them gold" if gold else "")
    return ActionResult(True, f"Project {project} ({name}) has {size}: /annotate/{project}", seq=seq)


@action(
    "verification.annotators",
    "POST /api/v1/maintenance/verification/{project}/annotators",
    audit=ANNOTATORS,
    button="Add annotators",
)
def add_annotators(ctx: ActionContext, project: ProjectNumber, *, annotators: Accounts) -> ActionResult:
    """Let accounts, named by ids or user names, answer in a project. For maintainers, who may always.

    Raises AuthError, NotFound, Conflict.
    """
    with ctx.database.write() as session:
        result, ids = _open(session, ctx, project=project, annotators=annotators)
        added = annotation_projects.add_annotators(session, project, accounts=ids)
        if not added:
            return ActionResult(False, "They may answer already.")
        seq = audit.append(session, ANNOTATORS, data={"project": project, "annotators": added, **ctx.author})
    return ActionResult(True, f"{len(added)} more may answer in {result.name}.", seq=seq)


@action(
    "verification.leave-out",
    "POST /api/v1/maintenance/verification/{project}/leave-out",
    audit=LEFT_OUT,
    button="Leave out",
    danger=True,
)
def leave_out(ctx: ActionContext, project: ProjectNumber, *, annotators: Accounts) -> ActionResult:
    """Let the answers of annotators count no more; their pairs go to others. For maintainers.

    To let them answer again is to take that back. Raises AuthError, NotFound, Conflict.
    """
    with ctx.database.write() as session:
        result, ids = _open(session, ctx, project=project, annotators=annotators)
        gone = annotation_projects.leave_out(session, project, accounts=ids)
        if not gone:
            return ActionResult(False, f"None of them answers in {result.name}.")
        seq = audit.append(session, LEFT_OUT, data={"project": project, "annotators": gone, **ctx.author})
    return ActionResult(True, f"Answers of {len(gone)} in {result.name} do not count.", seq=seq)


@action(
    "verification.close",
    "POST /api/v1/maintenance/verification/{project}/close",
    audit=CLOSED,
    waits=True,
    button="Close",
    danger=True,
)
def close(
    ctx: ActionContext,
    project: ProjectNumber,
    *,
    revision: ClosedDraft = "",
    reason: Reason,
    disclosure: Disclosure = "",
) -> ActionResult:
    """End a project and have a worker write its draft revision; a project about a file has none. For maintainers.

    Of a closed project another draft can be asked for, under another name. `disclosure`: what may be shown of scores
    under it, as of the base's if left out. Raises AuthError, NotFound, Conflict.
    """
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        report = _report(session, ctx, project=result)
        if result.closed_at is None:
            _check_closing(report)
        if bool(revision) != bool(result.base_revision):
            raise Conflict(
                "draft-name",
                f"Name the draft that closing {result.name} writes."
                if result.base_revision
                else f"{result.name} is about a file, so no draft follows: name none.",
            )
        task, new, seq = None, False, None
        if revision:
            params = {"project": project, "disclosure": stated_level(disclosure, usual="")}
            base = result.base_revision
            task, new = labels.request_draft(ctx, session, revision, base=base, reason=why, params=params)
        if result.closed_at is None:
            annotation_projects.close(session, project, by=ctx.user.account)
            facts = {"project": project, **_answers_digest(session, project), "draft": revision, "reason": why}
            seq = audit.append(session, CLOSED, data=facts | ctx.author)
    agreed, contested, left = (report.states[state] for state in (AGREED, CONTESTED, OPEN))
    words = f"{result.name} is closed: {agreed} decided, {contested} contested, {left} without enough answers."
    if task is not None:
        words = f"{words} A worker writes draft {revision} (task {task})."
    return ActionResult(new or seq is not None, words, seq=seq, task_id=task)


def _check_closing(report: ProjectReport) -> None:
    """Raise Conflict where nobody has answered, or an annotator who counts has too few gold pairs right."""
    if not any(annotator.answered for annotator in report.progress):
        raise Conflict("no-answers", f"Nobody has answered in {report.project.name} yet.")
    for annotator in report.progress:
        if annotator.below_gold_minimum:
            raise Conflict(
                "below-gold-minimum",
                f"{annotator.name} has {annotator.gold_right} of {annotator.gold} gold pairs right. Leave these "
                f"answers out first: `verification leave-out {report.project.id} {annotator.account}`.",
            )


@action("verification.list", "GET /api/v1/maintenance/verification", view=_shown)
def reports(ctx: ActionContext) -> list[ProjectReport]:
    """Show all projects, the newest first. For maintainers."""
    with ctx.database.read() as session:
        projects = annotation_projects.projects(session, ctx.benchmark)
        return [_report(session, ctx, project=project) for project in projects]


def known(session: Session, benchmark: str, *, project: int, lock: bool = False) -> Project:
    """Return a project. Raises NotFound."""
    result = annotation_projects.project(session, benchmark, project_id=project, lock=lock)
    if result is None:
        raise NotFound(_("There is no project {project}.", project=project))
    return result


def _check_plan(plan: ProjectPlan) -> str:
    """Return the guidelines. Raises Conflict where a pair cannot need so many answers, or guidelines are too long."""
    if not FEWEST_ANSWERS <= plan.answers <= MOST_ANSWERS:
        raise Conflict("bad-answers", f"A pair needs {FEWEST_ANSWERS} to {MOST_ANSWERS} answers, not {plan.answers}.")
    if len(plan.guidelines) > LONGEST_GUIDELINES:
        raise Conflict("long-guidelines", f"Guidelines have at most {LONGEST_GUIDELINES:,} characters.")
    return "".join(character for character in plan.guidelines if character.isprintable() or character == "\n").strip()


def _open(
    session: Session, ctx: ActionContext, *, project: int, annotators: Sequence[str]
) -> tuple[Project, list[str]]:
    """Return a project that is open, and the ids of accounts. Raises NotFound, Conflict."""
    result = known(session, ctx.benchmark, project=project, lock=True)
    if result.closed_at is not None:
        raise Conflict("closed", f"{result.name} is closed: answers do not change any more.")
    return result, [accounts.find(session, named).id for named in annotators]


def _check_name(session: Session, benchmark: str, *, name: str) -> None:
    """Raise Conflict where a project cannot have this name, or one has it."""
    if not _NAME.fullmatch(name):
        raise Conflict("bad-name", "Name the project with small letters, digits, dots and dashes, for instance may.")
    if any(project.name == name for project in annotation_projects.projects(session, benchmark)):
        raise Conflict("known-project", f"There is a project {name}. Choose another name.")


def _report(session: Session, ctx: ActionContext, *, project: Project) -> ProjectReport:
    pairs = decided_pairs(session, project, tag_of=ctx.items.table.spec.tag_of)
    given: dict[str, dict[str, str]] = {name: {} for name in annotation_projects.annotators(session, project.id)}
    for pair in pairs:
        for answer in pair.answers:
            given[answer.account][pair.item] = answer.verdict
    gold = {pair.item: preference_of(pair.verdict or "") for pair in pairs if pair.state == GOLD}
    progress, names = [], account_queries.names(session, list(given))
    for account, verdicts in given.items():
        right = [preference_of(verdict) == gold[item] for item, verdict in verdicts.items() if item in gold]
        name, below = names.get(account, account), sum(right) < GOLD_MINIMUM * len(right)
        progress.append(
            AnnotatorProgress(
                account, name, answered=len(verdicts), gold=len(right), gold_right=sum(right), below_gold_minimum=below
            )
        )
    return ProjectReport(
        project,
        tuple(progress),
        agreement=agreement(given, [pair.item for pair in pairs]),
        states={state: sum(pair.state == state for pair in pairs) for state in PAIR_STATES},
    )


def _answers_digest(session: Session, project: int) -> dict[str, Any]:
    """Return what closing puts on record: how many answers there are, and the digest of all of them."""
    given = annotation_projects.answers(session, project)
    rows = [[answer.item, answer.account, answer.verdict, sorted(answer.errors), answer.note] for answer in given]
    digest = hashlib.sha256(canonical_json({"answers": rows}).encode("ascii")).hexdigest()
    return {"answers": len(given), "answers_sha256": digest}
