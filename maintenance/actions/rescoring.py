"""Use cases of re-scoring under another label revision or scorer version: preview, apply, undo. A worker does what
needs labels.

The scorer version is that of the running workers (`benchmark.scorecard.SCORER_VERSION`). After an update it differs
from the board's; then it is named in the request, and the board follows by an apply as for labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from maintenance import previews
from maintenance.action_context import ActionContext
from maintenance.actions import labels
from maintenance.actions.tasks import request_task
from maintenance.registry import Confirmation, ParamInfo, Reason, Revision, RowNumber, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_confirmed, require_maintainer
from operation.alarms import labels_remedy
from storage.database import Session
from storage.integrity import audit
from storage.jobs import tasks, worker_heartbeats
from storage.jobs.tasks import TaskKind
from storage.labels import label_imports, label_levels, label_sets
from storage.labels.label_sets import ActiveBoard
from vlrb.benchmarks import board_rules
from vlrb.disclosure import PUBLIC, readers_words

APPLIED, UNDONE = "rescore.applied", "rescore.undone"
COUNTED = ("labels", "entries", "moved", "largest_change")


@dataclass(frozen=True, slots=True)
class RescoreRules:
    """Scorer version and rules to count by (default: the board's)."""

    scorer_version: Annotated[
        str, ParamInfo(option="--scorer-version", metavar="N", help="the workers', where the board's is another")
    ] = ""
    rules: Annotated[
        bool,
        ParamInfo("Rules of the definition", option="--rules", help="by its headline, votes and groupings of today"),
    ] = False


OF_THE_BOARD = RescoreRules()


@action("rescore.preview", "POST /api/v1/maintenance/rescore/preview", waits=True, button="Preview")
def request_preview(ctx: ActionContext, revision: Revision, *, selected: RescoreRules = OF_THE_BOARD) -> ActionResult:
    """Have a worker compute the board under a revision; nothing public changes. For maintainers."""
    with ctx.database.write() as session:
        labels.check_usable(session, ctx.benchmark, revision=revision)
        board = _board(session, ctx.benchmark)
        version = _version(session, board, wanted=selected.scorer_version)
        params = {"scorer_version": version, **_offered(board, selected)}
        asked = {"params": params, "reason": "preview", "scorer_version": version}
        task, new = request_task(ctx, session, kind=TaskKind.PREVIEW, subject=revision, **asked)
    return ActionResult(new, f"A worker computes the board under revision {revision} (task {task}).", task_id=task)


@action("rescore.show", "GET /api/v1/maintenance/rescore/preview/{task}", view=previews.shown)
def preview(ctx: ActionContext, task: RowNumber) -> dict[str, Any]:
    """Show what a preview has found: counts, and the entries before and after. For maintainers."""
    with ctx.database.read() as session:
        asked, result = tasks.view(session, task), tasks.result(session, task)
    if asked is None or asked.kind != TaskKind.PREVIEW:
        raise NotFound(f"There is no preview {task}.")
    if result is None:
        message = f"Preview {task} is {asked.state}."
        raise Conflict("not-ready", f"{message} {asked.outcome}".strip())
    return result


@action(
    "rescore.apply",
    "POST /api/v1/maintenance/rescore/apply",
    audit=APPLIED,
    title="Scored again under other labels",
    public="The board changed from label revision {from[label_revision]} to {to[label_revision]}: {reason}",
    shown=("from", "to", "reason", *COUNTED, "commitment", "snapshot_before", "before", "after"),
    waits=True,
    button="Apply",
    effect="Compute all scores under this revision. Then the public board changes in one step.",
)
def request_apply(
    ctx: ActionContext,
    revision: Revision,
    reason: Reason,
    confirmation: Confirmation = "",
    selected: RescoreRules = OF_THE_BOARD,
) -> ActionResult:
    """Have a worker score everything under a revision and then, all or nothing, show that. For maintainers.

    `confirmation`: what `confirmation_for` says, typed.
    """
    why, what_changes = clean_reason(reason), effect(ctx, revision)
    require_confirmed(
        confirmation, confirmation_for(revision, selected.scorer_version, rules=selected.rules), effect=what_changes
    )
    with ctx.database.write() as session:
        labels.check_usable(session, ctx.benchmark, revision=revision)
        board = _board(session, ctx.benchmark)
        now = {"label_revision": board.label_revision, "scorer_version": board.scorer_version}
        version = _version(session, board, wanted=selected.scorer_version)
        params: dict[str, Any] = {"from": now, "to": {"label_revision": revision, "scorer_version": version}}
        params |= _offered(board, selected)
        if params["to"] == now and params.get("rules", board.rules) == board.rules:
            return ActionResult(False, f"The board shows revision {revision}, scorer version {version} already.")
        require_labels_loaded(session, ctx.benchmark, revision=revision)
        wanted = {"params": params, "reason": why, "scorer_version": version}
        task, new = request_task(ctx, session, kind=TaskKind.APPLY, subject=revision, **wanted)
    applied = f"A worker applies revision {revision}, scorer version {version} (task {task})"
    return ActionResult(new, f"{applied}; the board changes in one step. {what_changes}".strip(), task_id=task)


def effect(ctx: ActionContext, revision: str) -> str:
    """Return what readers see when a revision is applied; "" where there is no board. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        board, levels = label_sets.current(session, ctx.benchmark), label_levels.levels(session, ctx.benchmark)
    if board is None:
        return ""
    return readers_words(levels.get(board.label_revision, PUBLIC), levels.get(revision, PUBLIC))


def confirmation_for(revision: str, scorer_version: str = "", *, rules: bool = False) -> str:
    """Return what has to be typed before an apply: the revision's name, the scorer version where one is named, and a
    word for the definition's rules."""
    return " ".join([revision, *(["scorer", scorer_version] if scorer_version else []), *(["rules"] * rules)])


def _offered(board: ActiveBoard, selected: RescoreRules) -> dict[str, str]:
    """Return the rules to count by, where those of the definition are asked for."""
    return {"rules": board.offered} if selected.rules else {}


@action(
    "rescore.undo",
    "POST /api/v1/maintenance/rescore/undo",
    audit=UNDONE,
    title="Change of labels taken back",
    public="The board went back from label revision {from[label_revision]} to {to[label_revision]}: {reason}",
    shown=("from", "to", "reason", *COUNTED, "before", "after"),
    button="Undo",
    danger=True,
)
def undo(ctx: ActionContext, revision: Revision, *, reason: Reason, confirmation: Confirmation = "") -> ActionResult:
    """Re-activate the revision that was shown before `revision` was applied. For maintainers.

    `confirmation`: the revision's name, typed; what is wrong with it is said with what the undo would change.
    Needs no worker; but those that run must hold the labels of then, or nothing would be scored or published any more.
    """
    why = clean_reason(reason)
    require_confirmed(confirmation, revision, effect=undo_effect(ctx, revision))
    with ctx.database.write() as session:
        label_sets.lock_board(session, ctx.benchmark)
        board = _board(session, ctx.benchmark)
        last = _last_apply(session, ctx.benchmark)
        now = {"label_revision": board.label_revision, "scorer_version": board.scorer_version}
        rules = (last or {}).get("rules", [board.rules, board.rules])
        if board.label_revision != revision or last is None or (last["to"], rules[1]) != (now, board.rules):
            return ActionResult(
                False,
                f"The board does not show revision {revision} because of an apply: nothing to undo.",
            )
        before = last["from"]
        require_labels_loaded(session, ctx.benchmark, revision=before["label_revision"])
        if last["published"]:
            label_imports.unpublish(session, ctx.benchmark, revision=revision)
        label_sets.activate_revision(
            session,
            ctx.benchmark,
            label_revision=before["label_revision"],
            scorer_version=before["scorer_version"],
            reason=why,
            rules=rules[0],
        )
        facts = {"applied": last["seq"], "from": now, "to": before, "reason": why, **_back(last)}
        facts |= board_rules.decision(*reversed(rules))
        facts |= {**ctx.author, "benchmark": ctx.benchmark}
        seq = audit.append(session, UNDONE, data=facts)
    shows = f"revision {before['label_revision']}, scorer version {before['scorer_version']}"
    return ActionResult(True, f"The board shows {shows} again.", seq=seq)


def undo_effect(ctx: ActionContext, revision: str) -> str:
    """Return what an undo would change, in the counts of the apply; "" where there is nothing to undo.

    For maintainers.
    """
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        last, levels = _last_apply(session, ctx.benchmark), label_levels.levels(session, ctx.benchmark)
    if last is None or last["to"]["label_revision"] != revision:
        return ""
    before = last["from"]["label_revision"]
    back = f"The board goes back to revision {before}; a preview of it shows every entry."
    readers = readers_words(levels.get(revision, PUBLIC), levels.get(before, PUBLIC))
    if "moved" not in last:
        return f"{back} {readers}"
    moved = f"Applying it had moved {last['moved']} of {last['entries']} entries."
    return f"{back} {moved} {readers}"


def _back(applied: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an apply has counted, turned round: no more than its event told, which said less of hidden labels."""
    counts = {name: applied[name] for name in ("entries", "moved", "largest_change") if name in applied}
    if (there := applied.get("labels")) is None:
        return {"labels": None, **counts}
    opposite = {"items_before": "items_after", "added": "dropped"}
    opposite |= {other: name for name, other in opposite.items()}
    return {"labels": {name: there[opposite.get(name, name)] for name in there}, **counts}


def _version(session: Session, board: ActiveBoard, *, wanted: str) -> str:
    """Return the scorer version to count by. Raises Conflict where no worker that runs would do it."""
    running, version = worker_heartbeats.scorer_versions(session), wanted or board.scorer_version
    if running and version not in running:
        others = ", ".join(running)
        raise Conflict(
            "no-such-worker",
            f"No worker counts by scorer version {version}. Those that run: {others}; name that one.",
        )
    return version


def _board(session: Session, benchmark: str) -> ActiveBoard:
    board = label_sets.current(session, benchmark)
    if board is None:
        raise Conflict("no-board", "There is no board yet: start a worker.")
    return board


def _last_apply(session: Session, benchmark: str) -> dict[str, Any] | None:
    """Return the newest apply that was not undone."""
    subject = audit.board(benchmark)
    return audit.last_standing(session, subject, kinds=(APPLIED,), undone=UNDONE, benchmark=benchmark)


def require_labels_loaded(session: Session, benchmark: str, *, revision: str) -> None:
    """Raise Conflict if no running worker could update the board under a revision. Without a worker, do not check."""
    if worker_heartbeats.no_worker_has(session, benchmark, revision=revision):
        remedy = labels_remedy(session, benchmark, revision=revision)
        raise Conflict("labels-missing", f"No running worker has the labels of revision {revision}: {remedy}.")
