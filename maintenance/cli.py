"""Commands of maintainers: arguments to use cases, results to text. Prints nothing itself."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auth.settings import IdentitySettings
from benchmark.disclosure import LEVELS
from maintenance import anomaly_text as suspicion_words
from maintenance import text_output
from maintenance.actions import (
    account_search,
    approvals,
    audit,
    bans,
    entries,
    entry_search,
    incidents,
    labels,
    operations,
    quota_grants,
    reported,
    rescoring,
    task_retry,
)
from maintenance.actions import anomalies as suspicions
from maintenance.actions.entries import ParseMetadata
from maintenance.actions.reported import Shipped
from maintenance.decision_log import decisions
from maintenance.types import ActionResult, Conflict, Identity, to_jsonable, whole_number
from operation.alarms import of_service
from review.items import ItemLookup
from storage import audit_checkpoints
from storage.clock import iso
from storage.database import Database

_WAIT_SECONDS = 0.3
_ALARM = "ALARM:"
_SAID_BY_HEALTH = ("rows-changed",)
_ACCOUNT = "its id, or its user name if nobody else has it; `accounts list` shows both"


@dataclass(frozen=True, slots=True)
class CliContext:
    """Context of the commands."""

    database: Database
    user: Identity
    benchmark: str
    parse: ParseMetadata
    paths: tuple[Path, ...]  # whose disks are looked at
    items: ItemLookup
    ask: Callable[[str], str]  # a question to the person at the terminal
    note: Callable[[str], None] = lambda text: None  # progress
    shipped: Callable[[], Shipped] = tuple  # the reported results that come with the project
    identity: IdentitySettings | None = None  # who has which role; None: not known here


@dataclass(frozen=True, slots=True)
class CliResult:
    """Output of a command: text for people, data for programs, and whether it succeeded."""

    text: str
    data: Any
    ok: bool = True


Command = Callable[[CliContext, argparse.Namespace], CliResult]


def add_commands(commands: Any) -> None:
    """Add all commands to an argparse subparsers object; each sets `command`."""
    _add_entries(group(commands, "entries", "decide about entries"))
    _add_labels(group(commands, "labels", "label revisions"))
    _add_rescore(group(commands, "rescore", "another label revision: preview, apply, undo"))
    _add_audit(group(commands, "audit", "the audit chain"))
    _add_approvals(group(commands, "approvals", "first submissions that wait for a maintainer"))
    _add_suspicions(group(commands, "suspicions", "entries that somebody should look at; private"))
    _add_reported(group(commands, "reported", "results published elsewhere"))
    _add_quota(group(commands, "quota", "submissions beyond the quota"))
    backup = command(commands, "backup", "have a worker copy the database now", _backup)
    backup.add_argument("--wait", action="store_true", help="until it is done")
    tasks = command(commands, "tasks", "what workers were asked", _tasks)
    tasks.add_argument("task", nargs="?", type=numbered_rows)
    retry = command(commands, "retry", "try a failed job or task again", _retry)
    which = retry.add_mutually_exclusive_group()
    number = "its number as `health` shows it; all failed jobs if left out"
    which.add_argument("job", nargs="?", type=numbered_rows, help=number)
    which.add_argument(
        "--task", type=numbered_rows, metavar="TASK", help="ask for this failed task again, as a new one"
    )
    pause = command(
        commands,
        "pause",
        "take no submissions",
        lambda c, o: action_result(operations.pause(c.database, c.user, o.message)),
    )
    pause.add_argument("message", help="why, shown to everybody")
    command(
        commands, "resume", "take submissions again", lambda c, o: action_result(operations.resume(c.database, c.user))
    )
    for name, what, use_case in (
        ("ban", "shut an account out", bans.ban),
        ("unban", "let it in again", bans.unban),
    ):
        parser = command(commands, name, what, _on_account(use_case))
        parser.add_argument("account", help=_ACCOUNT)
        parser.add_argument("--reason", required=True)
    _add_incidents(group(commands, "incidents", "what the public status page tells of"))
    command(commands, "health", "queue, workers, failures, disks", _health)
    _add_accounts(group(commands, "accounts", "who has signed in here"))


def group(commands: Any, name: str, words: str) -> Any:
    """Return a command that only has commands below it: where these are added."""
    return commands.add_parser(name, help=words).add_subparsers(required=True, metavar="COMMAND")


def command(commands: Any, name: str, words: str, run: Command) -> Any:
    """Return a command with what runs it: the parser, for its arguments."""
    parser = commands.add_parser(name, help=words)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=run)
    return parser


def numbered_rows(text: str) -> int:
    """As `whole_number`, in argparse's way."""
    try:
        return whole_number(text)
    except Conflict as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _add_accounts(commands: Any) -> None:
    listing = command(commands, "list", "id, name, role and submissions, the last seen first", _accounts)
    listing.add_argument("--search", default="", metavar="TEXT", help="only those with this in name or id")


def _accounts(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = account_search.listing(c.database, c.user, c.benchmark, c.identity, o.search)
    return CliResult(text_output.accounts(found), to_jsonable(found))


def _add_entries(commands: Any) -> None:
    simple: Sequence[tuple[str, str, Callable[[Database, Identity, str, str], ActionResult]]] = (
        ("hide", "take an entry out of sight", entries.hide),
        ("restore", "bring a hidden, withdrawn or merged entry back", entries.restore),
        ("withdraw", "take an entry off the board, leaving a stub", entries.withdraw),
        ("verify", "mark an entry as verified", entries.verify),
        ("unverify", "take that mark back", entries.unverify),
        ("flag", "put a public note (the reason) on an entry", entries.flag),
        ("unflag", "take the note off", entries.unflag),
    )
    for name, words, use_case in simple:
        parser = command(commands, name, words, _on_entry(use_case))
        parser.add_argument("entry")
        parser.add_argument("--reason", required=True)
    every = command(commands, "list", "entries with their owners and where they are, the newest first", _entries)
    every.add_argument("--search", default="", metavar="TEXT", help="only those with this in model, owner or id")
    edit = command(commands, "edit", "change an entry's metadata", _edit)
    edit.add_argument("entry")
    edit.add_argument("fields", nargs="+", metavar="FIELD=VALUE", help="an empty value clears the field")
    history = command(commands, "history", "the changes of an entry's metadata", _history)
    history.add_argument("entry")
    transfer = command(commands, "transfer", "give an entry to another account", _transfer)
    transfer.add_argument("entry")
    transfer.add_argument("account", help=_ACCOUNT)
    transfer.add_argument("--reason", required=True)
    merge = command(commands, "merge", "replace a duplicate by the entry it repeats", _merge)
    merge.add_argument("entry")
    merge.add_argument("--into", required=True, metavar="ENTRY")
    merge.add_argument("--reason", required=True)


def _add_labels(commands: Any) -> None:
    add = command(commands, "import", "have a worker load a revision as a draft", _import)
    add.add_argument("revision")
    add.add_argument("source", help="file below LABEL_IMPORT_DIRS, or Hub dataset owner/name@commit")
    add.add_argument("--reason", required=True)
    add_level(add, "categories if left out")
    add.add_argument("--wait", action="store_true", help="until a worker has done it")
    command(commands, "list", "all revisions", _revisions)
    disclose = command(commands, "disclose", "make an imported revision public, for good", _disclose)
    disclose.add_argument("revision")
    disclose.add_argument("--reason", required=True)
    disclose.add_argument("--confirm", default="", metavar="REVISION", help="the revision's name again")
    discard = command(commands, "discard", "remove a draft that was never applied; its name is free again", _discard)
    discard.add_argument("revision")
    discard.add_argument("--reason", required=True)
    discard.add_argument("--wait", action="store_true", help="until a worker has done it")
    retire = command(commands, "retire", "reveal the salt of a revision's commitment", _retire)
    retire.add_argument("revision")
    retire.add_argument("--reason", required=True)
    retire.add_argument("--confirm", metavar="REVISION", help="the revision's name again; asked for if left out")
    retire.add_argument("--wait", action="store_true", help="until a worker has done it")


def add_level(parser: argparse.ArgumentParser, usual: str) -> None:
    """Add what may be shown of scores under a revision, and the consent to labels that hide little."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--disclosure", choices=LEVELS, default="", help=f"what is shown of scores; {usual}")
    how.add_argument("--public", action="store_true", help="these labels can be had elsewhere: hide nothing")
    meant = "take labels that nearly say the same as public ones"
    parser.add_argument("--accept-weak-hiding", action="store_true", help=meant)


def level_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_level` has read, for a use case."""
    names = ("disclosure", "public", "accept_weak_hiding")
    return {name: getattr(options, name) for name in names}


def _add_rescore(commands: Any) -> None:
    preview = command(commands, "preview", "compute the board under a revision; nothing public changes", _preview)
    preview.add_argument("revision")
    preview.add_argument("--entry", action="append", default=[], metavar="ID", help="list only this one (repeatable)")
    preview.add_argument(
        "--where", action="append", default=[], metavar="FIELD=TEXT", help="list only matching entries"
    )
    preview.add_argument("--wait", action="store_true", help="until it is computed, then show it")
    preview.add_argument("--scorer-version", default="", metavar="N", help="the workers', where the board's is another")
    show = command(commands, "show", "show a preview", _show)
    show.add_argument("task", type=numbered_rows)
    apply = command(commands, "apply", "make the board show a revision, all or nothing", _apply)
    apply.add_argument("revision")
    apply.add_argument("--reason", required=True)
    apply.add_argument("--confirm", metavar="REVISION", help="the revision's name again; asked for if left out")
    apply.add_argument("--entry", action="append", default=[], metavar="ID", help="score only this one (repeatable)")
    apply.add_argument("--where", action="append", default=[], metavar="FIELD=TEXT", help="score only matching entries")
    apply.add_argument("--scorer-version", default="", metavar="N", help="the workers', where the board's is another")
    apply.add_argument("--wait", action="store_true", help="until it is done")
    undo = command(commands, "undo", "go back to what the board showed before a revision was applied", _undo)
    undo.add_argument("revision")
    undo.add_argument("--reason", required=True)


def _add_reported(commands: Any) -> None:
    add = command(commands, "import", "put all rows of a CSV or JSON file on the board as reported, or none", _report)
    add.add_argument("file", type=Path)
    add.add_argument("--reason", default="", help="goes on record; needed without --dry-run")
    add.add_argument("--dry-run", action="store_true", help="only say what would happen")
    command(commands, "list", "all imported results, with what arithmetic says", _reported)
    edit = command(commands, "edit", "change an imported result", _edit_reported)
    edit.add_argument("result")
    edit.add_argument("fields", nargs="+", metavar="FIELD=VALUE", help="an empty value clears the field")
    edit.add_argument("--reason", required=True)
    for name, words, use_case in (
        ("remove", "take an imported result off the board", reported.remove),
        ("restore", "bring a removed one back", reported.restore),
    ):
        parser = command(commands, name, words, _on_result(use_case))
        parser.add_argument("result")
        parser.add_argument("--reason", required=True)


def _add_quota(commands: Any) -> None:
    grant = command(commands, "grant", "allow an account submissions beyond its quota", _grant)
    grant.add_argument("account", help=_ACCOUNT)
    grant.add_argument("extra", type=int, help="how many")
    grant.add_argument("--reason", required=True)
    revoke = command(commands, "revoke", "end a grant", _revoke)
    revoke.add_argument("grant", type=numbered_rows)
    revoke.add_argument("--reason", required=True)
    command(commands, "list", "all grants", _grants)


def _add_audit(commands: Any) -> None:
    verify = command(
        commands, "verify", "recompute the chain and compare stored rows with it; names what differs", _verify
    )
    verify.add_argument("--head", type=Path, help="a head that was kept elsewhere")
    export = command(commands, "export", "the public chain, for checking receipts and heads against", _export)
    export.add_argument("--output", type=Path, required=True, help="JSON lines; of each event its number and hashes")
    head = command(commands, "head", "the chain's head, for keeping elsewhere", _head)
    head.add_argument("--output", type=Path, help="write it to this file")
    log = command(commands, "log", "the public decision log", _log)
    log.add_argument("--limit", type=numbered_rows, default=50)
    log.add_argument("--edits", action="store_true", help="entries that were described anew, too")


def _add_incidents(commands: Any) -> None:
    command(commands, "list", "the newest incidents", _incidents)
    opening = command(
        commands,
        "open",
        "tell everybody about an incident",
        lambda c, o: action_result(incidents.open_incident(c.database, c.user, o.text)),
    )
    opening.add_argument("text", help="what does not work, and since when")
    for name, words, close in (("update", "add to an open incident", False), ("close", "end one", True)):
        parser = command(commands, name, words, _on_incident(close))
        parser.add_argument("number", type=numbered_rows)
        parser.add_argument("text", help="what is known by now")


def _on_incident(close: bool) -> Command:
    return lambda c, o: action_result(incidents.update_incident(c.database, c.user, o.number, o.text, close=close))


def _incidents(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = incidents.listing(c.database)
    lines = [
        f"{one.number}  {'open' if one.closed_at is None else 'closed'}  {iso(one.opened_at)}  {one.title}"
        for one in found
    ]
    return CliResult("\n".join(lines) or "No incident was reported.", to_jsonable(found))


def _add_approvals(commands: Any) -> None:
    command(commands, "list", "what waits", _approvals)
    for name, words, use_case in (
        ("approve", "let a first submission through: it is scored at once", approvals.approve),
        ("reject", "turn it down; its owner reads the reason", approvals.reject),
    ):
        parser = command(commands, name, words, _on_entry(use_case))
        parser.add_argument("entry", metavar="SUBMISSION")
        parser.add_argument("--reason", required=True)


def _approvals(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = approvals.waiting(c.database, c.user, c.benchmark)
    lines = [
        f"{one.submission}  {one.submitted_at}  {one.model} {one.version}".rstrip()
        + f"  by {one.name} ({one.account}, {one.account_age_days} days old): {one.file}"
        for one in found
    ]
    return CliResult("\n".join(lines) or "Nothing waits.", to_jsonable(found))


def _add_suspicions(commands: Any) -> None:
    listing = command(commands, "list", "open suspicions, and how busy unknown accounts are", _suspicions)
    listing.add_argument("--all", action="store_true", help="those that are closed, too")
    for name, words, use_case in (
        ("dismiss", "close one: there is nothing in it", suspicions.dismiss),
        ("act", "close one: something was done, which the reason says", suspicions.resolve),
    ):
        parser = command(commands, name, words, _on_suspicion(use_case))
        parser.add_argument("suspicion", type=numbered_rows)
        parser.add_argument("--reason", required=True)
    again = command(
        commands,
        "again",
        "have a worker look at every entry again",
        lambda c, o: action_result(suspicions.rescan(c.database, c.user, o.reason)),
    )
    again.add_argument("--reason", required=True)


def _suspicions(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = suspicions.listing(c.database, c.user, c.benchmark, decided=o.all)
    busy = suspicions.alarm(c.database, c.user)
    return CliResult(suspicion_words.as_text(found, busy), suspicion_words.as_data(found, busy))


def _on_suspicion(use_case: Callable[[Database, Identity, int, str], ActionResult]) -> Command:
    return lambda c, o: action_result(use_case(c.database, c.user, o.suspicion, o.reason))


def action_result(done: ActionResult) -> CliResult:
    """Return what was done at once."""
    return CliResult(done.message, to_jsonable(done))


def _on_entry(use_case: Callable[[Database, Identity, str, str], ActionResult]) -> Command:
    return lambda c, o: action_result(use_case(c.database, c.user, o.entry, o.reason))


def _on_account(use_case: Callable[[Database, Identity, IdentitySettings | None, str, str], ActionResult]) -> Command:
    return lambda c, o: action_result(use_case(c.database, c.user, c.identity, o.account, o.reason))


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not FIELD=VALUE")
    return dict(text.split("=", 1) for text in texts)


def _edit(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(entries.edit(c.database, c.user, o.entry, _pairs(o.fields), c.parse, c.shipped()))


def _entries(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = entry_search.search(c.database, c.user, c.benchmark, o.search)
    return CliResult(text_output.entries_found(found), to_jsonable(found))


def _history(c: CliContext, o: argparse.Namespace) -> CliResult:
    changes = entries.history(c.database, c.user, o.entry)
    return CliResult(text_output.history(changes), to_jsonable(changes))


def _transfer(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(entries.transfer(c.database, c.user, o.entry, o.account, o.reason))


def _merge(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(entries.merge(c.database, c.user, o.entry, o.into, o.reason))


def _import(c: CliContext, o: argparse.Namespace) -> CliResult:
    local = Path(o.source)
    source = str(local.absolute()) if local.exists() else o.source
    told = (c.database, c.user, c.benchmark, o.revision, source, o.reason)
    done = labels.request_import(*told, **level_of(o))
    return follow_task(c, o, done)


def _revisions(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = labels.revisions(c.database, c.user, c.benchmark)
    return CliResult(text_output.revisions(found), to_jsonable(found))


def _disclose(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(labels.disclose(c.database, c.user, c.benchmark, o.revision, o.reason, o.confirm))


def _discard(c: CliContext, o: argparse.Namespace) -> CliResult:
    return follow_task(c, o, labels.request_discard(c.database, c.user, c.benchmark, o.revision, o.reason))


def _retire(c: CliContext, o: argparse.Namespace) -> CliResult:
    typed = o.confirm if o.confirm is not None else c.ask(f"{labels.FOR_GOOD} To confirm, type {o.revision}: ")
    return follow_task(c, o, labels.request_retire(c.database, c.user, c.benchmark, o.revision, o.reason, typed))


def _preview(c: CliContext, o: argparse.Namespace) -> CliResult:
    scope = {"entries": o.entry, "where": _pairs(o.where), "scorer_version": o.scorer_version}
    done = rescoring.request_preview(c.database, c.user, c.benchmark, o.revision, **scope)
    answer = follow_task(c, o, done)
    if not (o.wait and answer.ok and done.task_id is not None):
        return answer
    return _shown(c, done.task_id)


def _show(c: CliContext, o: argparse.Namespace) -> CliResult:
    return _shown(c, o.task)


def _shown(c: CliContext, task_id: int) -> CliResult:
    found = rescoring.preview(c.database, c.user, task_id)
    return CliResult(text_output.preview(found), found)


def _apply(c: CliContext, o: argparse.Namespace) -> CliResult:
    expected = rescoring.confirmation_for(o.revision, o.scorer_version)
    effect = "" if o.entry or o.where else rescoring.effect(c.database, c.user, c.benchmark, o.revision)
    typed = o.confirm if o.confirm is not None else c.ask(f"{effect} Type {expected} to apply it: ".lstrip())
    told = (c.database, c.user, c.benchmark, o.revision, o.reason, typed)
    scope = {"entries": o.entry, "where": _pairs(o.where), "scorer_version": o.scorer_version}
    return follow_task(c, o, rescoring.request_apply(*told, **scope))


def _report(c: CliContext, o: argparse.Namespace) -> CliResult:
    told = (c.database, c.user, c.benchmark, o.file.read_bytes(), o.reason)
    found = reported.import_file(*told, c.shipped(), dry_run=o.dry_run)
    return CliResult(text_output.reported_import(found), to_jsonable(found))


def _reported(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = reported.results(c.database, c.user, c.benchmark)
    return CliResult(text_output.reported_results(found), to_jsonable(found))


def _edit_reported(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(reported.edit(c.database, c.user, c.benchmark, o.result, _pairs(o.fields), o.reason))


def _on_result(use_case: Callable[[Database, Identity, str, str, str], ActionResult]) -> Command:
    return lambda c, o: action_result(use_case(c.database, c.user, c.benchmark, o.result, o.reason))


def _grant(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(quota_grants.grant(c.database, c.user, o.account, o.extra, o.reason))


def _revoke(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(quota_grants.revoke(c.database, c.user, o.grant, o.reason))


def _grants(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = quota_grants.listing(c.database, c.user)
    return CliResult(text_output.quota_grants(found), to_jsonable(found))


def _backup(c: CliContext, o: argparse.Namespace) -> CliResult:
    return follow_task(c, o, operations.request_backup(c.database, c.user))


def _undo(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(rescoring.undo(c.database, c.user, c.benchmark, o.revision, o.reason))


def follow_task(c: CliContext, o: argparse.Namespace, done: ActionResult) -> CliResult:
    """Return what was asked of a worker; waits for its end where that is wanted."""
    if not o.wait or done.task_id is None:
        return action_result(done)
    seen = None
    while not (task := operations.task(c.database, c.user, done.task_id)).ended:
        if (now := (task.state, task.progress)) != seen:
            c.note(text_output.progress(task))
            seen = now
        time.sleep(_WAIT_SECONDS)
    return CliResult(text_output.task(task), to_jsonable(task), ok=task.state == "done")


def _tasks(c: CliContext, o: argparse.Namespace) -> CliResult:
    if o.task is not None:
        one = operations.task(c.database, c.user, o.task)
        return CliResult(text_output.task(one), to_jsonable(one))
    found = operations.recent_tasks(c.database, c.user)
    return CliResult("\n".join(map(text_output.task, found)) or "Nothing was asked yet.", to_jsonable(found))


def _retry(c: CliContext, o: argparse.Namespace) -> CliResult:
    if o.task is not None:
        return action_result(task_retry.retry_task(c.database, c.user, c.benchmark, o.task))
    if o.job is None:
        return action_result(operations.requeue_all(c.database, c.user, c.benchmark))
    return action_result(operations.requeue(c.database, c.user, o.job))


def _health(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = operations.health(c.database, c.user, c.benchmark, c.paths)
    data = [str(path) for path in c.paths]
    with c.database.read() as session:
        raised = [alarm for alarm in of_service(session, c.paths) if alarm.code not in _SAID_BY_HEALTH]
    lines = [f"ALARM: {alarm.sentence}" for alarm in raised]
    told = "\n".join([text_output.installation(c.benchmark, data), text_output.health(found), *lines])
    alarms = [alarm._asdict() for alarm in raised]
    body = {"benchmark": c.benchmark, "data": data, **to_jsonable(found), "alarms": alarms}
    return CliResult(told, body, ok=_ALARM not in told)


def _verify(c: CliContext, o: argparse.Namespace) -> CliResult:
    head = audit.read_head(o.head.read_text("utf-8", "replace")) if o.head else None
    found = audit.verify(c.database, c.user, head)
    return CliResult(found.sentence, to_jsonable(found), ok=found.ok)


def _export(c: CliContext, o: argparse.Namespace) -> CliResult:
    written = 0
    with o.output.open("w", encoding="ascii") as file:
        for line in audit.public(c.database):
            file.write(line)
            written += 1
    return CliResult(f"{written:,} events are in {o.output}.", {"events": written, "output": str(o.output)})


def _head(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = audit.head(c.database, c.user)
    if o.output is not None:
        audit_checkpoints.write(o.output, found)
    where = f" is in {o.output}" if o.output else ""
    return CliResult(f"{found['seq']} {found['hash']}{where}", found)


def _log(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = decisions(c.database, limit=o.limit, edits=o.edits)
    return CliResult("\n".join(f"{one.at} {one.sentence}" for one in found), [one.to_json() for one in found])
