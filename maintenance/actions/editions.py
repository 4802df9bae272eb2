"""Use cases about editions: a worker makes one of the answers of a closed project about candidates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import Field

from maintenance import curation_text
from maintenance.action_context import ActionContext
from maintenance.actions.labels import UNTIL_DONE
from maintenance.actions.pools import FOLLOW
from maintenance.registry import ParamInfo, Reason, action
from maintenance.request_task import request_task
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer, whole_number
from storage.annotation import annotation_projects
from storage.database import LARGEST
from storage.jobs import tasks
from storage.jobs.tasks import TaskRequest, TaskView
from vlrb.benchmarks.spec_file import known_benchmarks
from vlrb.common.messages import _

EXPORT = "editions.export"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_SHOWN = 200

VerifiedProject = Annotated[
    int, Field(ge=0, le=LARGEST), ParamInfo("Project", "number of a closed one", read=whole_number)
]
EditionId = Annotated[str, ParamInfo("Edition", "vl-rewardbench-2", metavar="id", help="id of the new benchmark")]
EditionTitle = Annotated[str, ParamInfo("Title", "VL-RewardBench 2", option="--title", help="for pages")]


@dataclass(frozen=True, slots=True)
class EditionOptions:
    """How an edition is divided and named."""

    version: Annotated[str, ParamInfo("Version", "v1", option="--version", help="of the edition (v1)")] = ""
    hidden: Annotated[
        int,
        Field(ge=0, le=100),
        ParamInfo("% hidden", option="--hidden", metavar="PERCENT", help="of pairs with hidden labels (50)"),
    ] = 50
    retire: Annotated[
        str, ParamInfo("Retires on", "2027-12-31", option="--retire", metavar="DATE", help="when labels are published")
    ] = ""
    citation: Annotated[str, ParamInfo("Citation", "BibTeX", option="--citation", metavar="BIBTEX")] = ""
    partial: Annotated[
        bool, ParamInfo("Leave undecided pairs out", option="--partial", help="leave undecided pairs out")
    ] = False


@action(
    "editions.export",
    "POST /api/v1/maintenance/editions",
    help="have a worker make an edition of a closed project about candidates",
    waits=UNTIL_DONE,
    task=EXPORT,
    retry=lambda ctx, failed: _export_again(ctx, failed),
    button="Export the edition",
)
def request_export(
    ctx: ActionContext,
    project: VerifiedProject,
    *,
    id: EditionId,
    title: EditionTitle,
    reason: Reason,
    options: EditionOptions,
) -> ActionResult:
    """Have a worker make an edition: a public folder without hidden labels, and a private one. For maintainers.

    They lie in `editions/public` and `editions/private` of the data directory. An edition that is there stays as it is.
    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    why, name = clean_reason(reason), clean_reason(title, "title", limit=200)
    _check(id, options)
    params: dict[str, Any] = {"project": project, "title": name, "version": options.version or "v1"}
    params |= {"hidden": options.hidden, "retire": options.retire, "citation": options.citation}
    params |= {"partial": options.partial}
    with ctx.database.write() as session:
        result = annotation_projects.project(session, ctx.benchmark, project_id=project)
        if result is None:
            raise NotFound(_("There is no project {project}.", project=project))
        if result.pool_id is None:
            raise Conflict(
                "no-pool", _("{name} is about labels: editions are made of candidates of a pool.", name=result.name)
            )
        if result.closed_at is None:
            raise Conflict(
                "open",
                _("{name} is open. End it first: `verification finish {project}`.", name=result.name, project=project),
            )
        wanted = TaskRequest(
            EXPORT, id, params=params, reason=why, requested_by=ctx.user.account, benchmark=ctx.benchmark
        )
        task, new = request_task(session, wanted)
    message = _(
        "A worker makes edition {id} of {name} (task {task}). {follow}",
        id=id,
        name=result.name,
        task=task,
        follow=FOLLOW,
    )
    return ActionResult(new, message, task_id=task)


def _check(edition: str, options: EditionOptions) -> None:
    """Raise Conflict for what cannot be an edition."""
    if not _ID.fullmatch(edition):
        raise Conflict("bad-id", _("Name the edition with small letters, digits and dashes, for instance my-bench-2."))
    if edition in known_benchmarks():
        raise Conflict(
            "known-benchmark",
            _("There is a benchmark {edition}. Old editions stay: choose another id.", edition=edition),
        )
    if options.version and not _VERSION.fullmatch(options.version):
        raise Conflict("bad-version", _("Name the version with letters, digits, dots and dashes, for instance v1."))
    if not 0 <= options.hidden <= 100:
        raise Conflict(
            "bad-share", _("The hidden share is a percentage from 0 to 100, not {hidden}.", hidden=options.hidden)
        )
    if options.retire:
        try:
            date.fromisoformat(options.retire)
        except ValueError:
            raise Conflict(
                "bad-date", _("{retire!r} is not a date. Write one such as 2027-12-31.", retire=options.retire[:40])
            ) from None


def _export_again(ctx: ActionContext, failed: TaskView) -> ActionResult:
    asked = failed.params
    options = EditionOptions(
        asked["version"], asked["hidden"], retire=asked["retire"], citation=asked["citation"], partial=asked["partial"]
    )
    return request_export(
        ctx, asked["project"], id=failed.subject, title=asked["title"], reason=failed.reason, options=options
    )


@action(
    "editions.list",
    "GET /api/v1/maintenance/editions",
    help="editions that were made, with their cards in short",
    text=curation_text.editions,
)
def exported(ctx: ActionContext) -> list[dict[str, Any]]:
    """Return the editions that workers made here, the newest first. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        exports = [
            task for task in tasks.latest(session, _SHOWN, kind=EXPORT, benchmark=ctx.benchmark) if task.state == "done"
        ]
        return [{"edition": task.subject, **(tasks.result(session, task.id) or {})} for task in exports]
