"""Commands that no single action is: files in and out, and one word for several actions."""

from __future__ import annotations

import argparse
from pathlib import Path

from maintenance import text_output
from maintenance.actions import audit, operations, reported, task_retry
from maintenance.cli import CliContext, CliResult, CommandTree, action_result, numbered
from maintenance.decision_log import decisions
from maintenance.types import to_jsonable
from storage.integrity import audit_checkpoints
from vlrb.common.messages import _, joined


def add_commands(tree: CommandTree) -> None:
    """Add all of them."""
    _add_audit(tree)
    report = tree.add(
        "reported import",
        _("put all rows of a CSV or JSON file on the board as reported, or none"),
        run=_import_reported,
    )
    report.add_argument("file", type=Path)
    report.add_argument("--reason", default="", help=_("goes on record; needed without --dry-run"))
    report.add_argument("--dry-run", action="store_true", help=_("only say what would happen"))
    tasks = tree.add("tasks", _("what workers were asked"), run=_tasks)
    tasks.add_argument("task", nargs="?", type=numbered)
    retry = tree.add("retry", _("try a failed job or task again"), run=_retry)
    which = retry.add_mutually_exclusive_group()
    number = _("its number as `health` shows it; all failed jobs if left out")
    which.add_argument("job", nargs="?", type=numbered, help=number)
    which.add_argument("--task", type=numbered, metavar="TASK", help=_("ask for this failed task again, as a new one"))
    tree.add("health", _("queue, workers, failures, disks"), run=_health)


def _add_audit(tree: CommandTree) -> None:
    verify = tree.add(
        "audit verify", _("recompute the chain and compare stored rows with it; names what differs"), run=_verify
    )
    verify.add_argument("--head", type=Path, help=_("a head that was kept elsewhere"))
    export = tree.add("audit export", _("the public chain, for checking receipts and heads against"), run=_export)
    export.add_argument("--output", type=Path, required=True, help=_("JSON lines; of each event its number and hashes"))
    head = tree.add("audit head", _("the chain's head, for keeping elsewhere"), run=_head)
    head.add_argument("--output", type=Path, help=_("write it to this file"))
    log = tree.add("audit log", _("the public decision log"), run=_log)
    log.add_argument("--limit", type=numbered, default=50)
    log.add_argument("--edits", action="store_true", help=_("entries that were described anew, too"))


def _import_reported(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = reported.import_file(c.actions, o.file.read_bytes(), reason=o.reason, dry_run=o.dry_run)
    return CliResult(text_output.reported_import(result), to_jsonable(result))


def _tasks(c: CliContext, o: argparse.Namespace) -> CliResult:
    if o.task is not None:
        task = operations.task(c.actions, o.task)
        return CliResult(text_output.task(task), to_jsonable(task))
    recent_tasks = operations.recent_tasks(c.actions)
    return CliResult(
        joined(map(text_output.task, recent_tasks), "\n") or _("Nothing was asked yet."), to_jsonable(recent_tasks)
    )


def _retry(c: CliContext, o: argparse.Namespace) -> CliResult:
    if o.task is not None:
        return action_result(task_retry.retry_task(c.actions, o.task))
    if o.job is None:
        return action_result(operations.requeue_all(c.actions))
    return action_result(operations.requeue(c.actions, o.job))


def _health(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = operations.health(c.actions)
    data = [str(path) for path in c.actions.paths]
    text = joined([text_output.installation(c.actions.benchmark, data), text_output.health(result)], "\n")
    body = {"benchmark": c.actions.benchmark, "data": data, **to_jsonable(result)}
    return CliResult(text, body, ok=not result.alarms)


def _verify(c: CliContext, o: argparse.Namespace) -> CliResult:
    head = audit.read_head(o.head.read_text("utf-8", "replace")) if o.head else None
    result = audit.verify(c.actions, head)
    return CliResult(result.sentence, to_jsonable(result), ok=result.ok)


def _export(c: CliContext, o: argparse.Namespace) -> CliResult:
    written = 0
    with o.output.open("w", encoding="ascii") as file:
        for line in audit.public(c.actions.database):
            file.write(line)
            written += 1
    return CliResult(
        _("{count:,} events are in {path}.", count=written, path=o.output), {"events": written, "output": str(o.output)}
    )


def _head(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = audit.head(c.actions)
    if o.output is not None:
        audit_checkpoints.write(o.output, result)
    text = f"{result['seq']} {result['hash']}"
    return CliResult(_("{head} is in {path}", head=text, path=o.output) if o.output else text, result)


def _log(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = decisions(c.actions.database, c.actions.public_events, limit=o.limit, edits=o.edits)
    return CliResult(
        joined((_("{at} {sentence}", at=decision.at, sentence=_(decision.sentence)) for decision in result), "\n"),
        [decision.to_json() for decision in result],
    )
