"""Commands that no single action is: files in and out of the audit chain."""

from __future__ import annotations

import argparse
from pathlib import Path

from maintenance import views
from maintenance.actions import audit
from maintenance.cli import CliContext, CliResult, CommandTree, numbered
from maintenance.decision_log import decisions
from maintenance.types import to_jsonable
from maintenance.view import terminal
from storage.integrity import audit_checkpoints


def add_commands(tree: CommandTree) -> None:
    """Add all of them."""
    verify = tree.add("audit verify", audit.check.declared.help, run=_verify)
    verify.add_argument("--head", type=Path, help="a head that was kept elsewhere")
    export = tree.add("audit export", "the public chain, for checking receipts and heads against", run=_export)
    export.add_argument("--output", type=Path, required=True, help="JSON lines; of each event its number and hashes")
    head = tree.add("audit head", audit.head.declared.help, run=_head)
    head.add_argument("--output", type=Path, help="write it to this file")
    log = tree.add("audit log", "the public decision log", run=_log)
    log.add_argument("--limit", type=numbered, default=50)
    log.add_argument("--edits", action="store_true", help="entries that were described anew, too")


def _verify(c: CliContext, o: argparse.Namespace) -> CliResult:
    head = audit.read_head(o.head.read_text("utf-8", "replace")) if o.head else None
    result = audit.verify(c.actions, head)
    return CliResult(f"{result.sentence}", to_jsonable(result), ok=result.ok)


def _export(c: CliContext, o: argparse.Namespace) -> CliResult:
    written = 0
    with o.output.open("w", encoding="ascii") as file:
        for line in audit.public(c.actions.database):
            file.write(line)
            written += 1
    return CliResult(f"{written:,} events are in {o.output}.", {"events": written, "output": str(o.output)})


def _head(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = audit.head(c.actions)
    if o.output is not None:
        audit_checkpoints.write(o.output, result)
    text = f"{result['seq']} {result['hash']}"
    return CliResult(f"{text} is in {o.output}" if o.output else text, result)


def _log(c: CliContext, o: argparse.Namespace) -> CliResult:
    result = decisions(c.actions.database, c.actions.public_events, limit=o.limit, edits=o.edits)
    return CliResult(terminal(views.decisions(result)), [decision.to_json() for decision in result])
