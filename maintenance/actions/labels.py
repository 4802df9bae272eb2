"""Use cases about label revisions: import and retire. Only counts and digests are here, never a label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from maintenance.action_context import ActionContext
from maintenance.actions.tasks import request_task
from maintenance.database import queries
from maintenance.database.queries import RevisionRow
from maintenance.decision_log import label_difference
from maintenance.registry import Confirmation, ParamInfo, Reason, Revision, action
from maintenance.types import ActionResult, Conflict, NotFound, absolute_path, clean_reason, require_confirmed
from maintenance.view import Row, Table, TableCell, View, shortened
from storage.annotation import annotation_projects
from storage.clock import minute
from storage.database import Session
from storage.integrity import audit
from storage.jobs.tasks import TaskKind
from storage.labels import label_imports, label_sets
from vlrb.benchmarks.spec import DEMO
from vlrb.disclosure import HIDDEN, LEVELS, PUBLIC, readers_words

DISCLOSED, DRAFT_DISCLOSED = "labels.disclosed", "labels.draft-disclosed"
FOR_GOOD = "This reveals the salt for good, and the revision can never be previewed or applied again."
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


LabelSource = Annotated[
    str,
    ParamInfo(
        "File or Hub dataset",
        "labels_v3.jsonl, or owner/name@commit",
        help="file below DATA_DIR/imports, or Hub dataset owner/name@commit",
        read=absolute_path,
    ),
]
Disclosure = Annotated[
    str,
    ParamInfo(
        "Shown of scores",
        option="--disclosure",
        choices=LEVELS,
        help="what is shown of scores; hidden, or as of the base, if left out",
    ),
]


def check_new(session: Session, benchmark: str, *, revision: str) -> None:
    """Raise Conflict where a revision cannot have this name, or one has it."""
    if not _NAME.fullmatch(revision):
        raise Conflict("bad-name", "Name the revision with small letters, digits, dots and dashes, for instance v3.")
    if queries.revision(session, benchmark, name=revision) is not None:
        raise Conflict(
            "known-revision",
            f"Revision {revision} exists, and revisions never change. Choose a new name.",
        )
    if revision == DEMO:
        raise Conflict("reserved-name", f"{revision} is what the demo's own revision is called. Choose another name.")


def check_usable(session: Session, benchmark: str, *, revision: str) -> None:
    """Raise NotFound where there is no such label revision, Conflict where it is retired: counts against labels that
    are public would tell those of another."""
    result = queries.revision(session, benchmark, name=revision)
    if result is None:
        raise NotFound(f"There is no label revision {revision[:40]!r}. Import it first.")
    if result.retired_at is not None:
        raise Conflict("retired", f"Revision {revision} is retired: its labels may be public.")


def stated_level(disclosure: str, *, usual: str) -> str:
    """Return the disclosure level that was asked for; `usual` where none was. Raises Conflict."""
    if disclosure and disclosure not in LEVELS:
        raise Conflict("unknown-level", f"The disclosure is one of {', '.join(LEVELS)}, not {disclosure[:40]!r}.")
    return disclosure or usual


@action("labels.import", "POST /api/v1/maintenance/labels", waits=True, button="Import as a draft")
def request_import(
    ctx: ActionContext, revision: Revision, source: LabelSource, reason: Reason, disclosure: Disclosure = ""
) -> ActionResult:
    """Have a worker load a label revision as a draft: nothing public changes. For maintainers.

    `source`: a file below the workers' DATA_DIR/imports, or a Hub dataset `owner/name@commit`. Revisions are
    immutable: a name that is known cannot be imported again. `disclosure`: what may be shown of
    scores, hidden if left out.
    """
    why, origin = clean_reason(reason), clean_reason(source, "source", limit=2000)
    params = {"spec": origin, "disclosure": stated_level(disclosure, usual=HIDDEN)}
    with ctx.database.write() as session:
        check_new(session, ctx.benchmark, revision=revision)
        task, new = request_task(ctx, session, kind=TaskKind.IMPORT, subject=revision, params=params, reason=why)
    return ActionResult(new, f"A worker imports revision {revision} (task {task}).", task_id=task)


def request_draft(
    ctx: ActionContext, session: Session, revision: str, *, base: str, reason: str, params: Mapping[str, Any]
) -> tuple[int, bool]:
    """Return the task that writes a draft of `base`: its number, and whether it is new. Raises NotFound, Conflict.

    `params`: where its changes come from, and the disclosure level that was stated.
    """
    check_usable(session, ctx.benchmark, revision=base)
    check_new(session, ctx.benchmark, revision=revision)
    more = {"params": {"base": base, **params}, "reason": reason}
    return request_task(ctx, session, kind=TaskKind.DRAFT, subject=revision, **more)


@action(
    "labels.retire",
    "POST /api/v1/maintenance/labels/{revision}/retire",
    audit="labels.retired",
    title="Labels retired",
    public="Label revision {revision} is retired: {reason}",
    shown=("revision", "salt", "commitment", "reason"),
    waits=True,
    button="Retire for good",
    danger=True,
)
def request_retire(
    ctx: ActionContext, revision: Revision, *, reason: Reason, confirmation: Confirmation = ""
) -> ActionResult:
    """Have the salt of an imported revision revealed, so that anybody can check its commitment. For maintainers.

    What is revealed stays so: `confirmation` is the revision's name typed again. Raises AuthError, NotFound, Conflict.
    """
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = queries.revision(session, ctx.benchmark, name=revision)
        if result is None or result.imported_at is None:
            raise NotFound(f"There is no imported revision {revision[:40]!r}.")
        if result.retired_at is not None:
            return ActionResult(False, f"Revision {revision} is retired already.")
        board = label_sets.current(session, ctx.benchmark)
        if board is not None and board.label_revision == revision:
            raise Conflict("in-use", f"The board shows revision {revision}; apply another one first.")
        for project in annotation_projects.projects(session, ctx.benchmark):
            if project.base_revision == revision and project.closed_at is None:
                raise Conflict("in-use", f"Project {project.name} is verifying revision {revision}; close it first.")
        require_confirmed(confirmation, revision, effect=FOR_GOOD)
        task, new = request_task(ctx, session, kind=TaskKind.RETIRE, subject=revision, reason=why)
    return ActionResult(new, f"A worker retires revision {revision} (task {task}).", task_id=task)


@action(
    "labels.disclose",
    "POST /api/v1/maintenance/labels/{revision}/disclose",
    audit=DISCLOSED,
    title="Labels disclosed",
    public="Label revision {revision} is public now: {reason}",
    button="Disclose for good",
    danger=True,
)
def disclose(
    ctx: ActionContext, revision: Revision, *, reason: Reason, confirmation: Confirmation = ""
) -> ActionResult:
    """Make an imported revision public: everything that its scores tell may be shown. For maintainers.

    That cannot be taken back. `confirmation`: the revision's name, typed again. Raises AuthError, NotFound, Conflict.
    """
    why = clean_reason(reason)
    with ctx.database.write() as session:
        result = queries.revision(session, ctx.benchmark, name=revision)
        if result is None:
            raise NotFound(f"There is no imported revision {revision[:40]!r}.")
        if result.imported_at is None:
            raise Conflict(
                "configured",
                f"The settings name revision {revision}: take it out of HIDDEN_LABELS and start the service again.",
            )
        if result.disclosure == PUBLIC or result.retired_at is not None:
            return ActionResult(False, f"Revision {revision} is public already.")
        require_confirmed(confirmation, revision)
        label_imports.disclose(session, ctx.benchmark, revision=revision)
        facts = {"revision": revision, "from": result.disclosure, "to": PUBLIC, "reason": why}
        kind = DRAFT_DISCLOSED if result.published_at is None else DISCLOSED
        facts |= {**ctx.author, "benchmark": ctx.benchmark}
        seq = audit.append(session, kind, data=facts)
    return ActionResult(
        True,
        f"Revision {revision} is public: {readers_words(result.disclosure or PUBLIC, PUBLIC)}",
        seq=seq,
    )


def _shown(revisions: Sequence[RevisionRow]) -> View:
    head = ("Revision", "Labels", "Kind", "Disclosure", "Against", "Why", "By", "At", "Commitment", "Salt")
    nothing = "There are no label revisions yet: start a worker."
    rows = [_row(revision) for revision in revisions]
    return View(tables=[Table("Revisions", head, rows, nothing, parameter="revision", several=False)])


def _row(row: RevisionRow) -> Row:
    level = "" if row.retired_at is not None else row.disclosure or "as configured"
    against = f"{row.difference.get('against')}: {label_difference(row.difference)}" if row.difference else ""
    user = TableCell(row.requested_by, account=True) if row.requested_by else "settings"
    came = (row.reason, user, minute(row.came_at))
    cells = (row.revision, row.items, _kind(row), level, against, *came, shortened(row.commitment), shortened(row.salt))
    return Row(cells, key=row.revision, name=row.revision, without=_impossible_changes(row))


def _kind(revision: RevisionRow) -> str:
    if revision.retired_at is not None:
        return "retired"
    if revision.imported_at is None:
        return "configured"
    return "imported" if revision.published_at is not None else "draft"


def _impossible_changes(row: RevisionRow) -> list[str]:
    """Return the actions that are refused for a revision in its state."""
    imported, retired = row.imported_at is not None, row.retired_at is not None
    without = {
        "rescore.preview": retired,
        "rescore.apply": retired,
        "rescore.undo": row.published_at is None or retired,
        "labels.retire": not imported or retired,
        "labels.disclose": not imported or retired or row.disclosure == PUBLIC,
    }
    return [name for name, refused in without.items() if refused]


@action("labels.list", "GET /api/v1/maintenance/labels", view=_shown)
def revisions(ctx: ActionContext) -> list[RevisionRow]:
    """Show all label revisions, drafts included. For maintainers."""
    with ctx.database.read() as session:
        return queries.revisions(session, ctx.benchmark)
