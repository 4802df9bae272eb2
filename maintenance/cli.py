"""The maintainers' commands: arguments to use cases, results to words. Prints nothing itself."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.disclosure import LEVELS
from identity.settings import IdentitySettings
from maintenance import allowances, chain, entries, labels, operations, people, reported, reports, rescoring
from maintenance.accounts import directory
from maintenance.approvals import actions as approvals
from maintenance.decisions import decisions
from maintenance.entries import ParseMetadata
from maintenance.moderation import listing
from maintenance.reported import Shipped
from maintenance.review.pairs import Shelf
from maintenance.suspicions import actions as suspicions
from maintenance.suspicions import words as suspicion_words
from maintenance.tasks import again
from maintenance.values import Done, Identity, NotPossible, as_data, whole_number
from storage import heads
from storage.database import Database

_WAIT_SECONDS = 0.3
_ACCOUNT = "its id, or its user name if nobody else has it; `accounts list` shows both"


@dataclass(frozen=True, slots=True)
class Context:
    """What the commands work with."""

    database: Database
    who: Identity
    benchmark: str
    parse: ParseMetadata
    paths: tuple[Path, ...]  # whose disks are looked at
    shelf: Shelf
    ask: Callable[[str], str]  # a question to the person at the terminal
    note: Callable[[str], None] = lambda text: None  # progress
    shipped: Callable[[], Shipped] = tuple  # the reported results that come with the project
    identity: IdentitySettings | None = None  # who has which role; None: not known here


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say: words for people, data for programs, and whether it did what was asked."""

    text: str
    data: Any
    ok: bool = True


Command = Callable[[Context, argparse.Namespace], Answer]


def add_commands(commands: Any) -> None:
    """Adds all commands to an argparse subparsers object; each sets `command`."""
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
    tasks.add_argument("task", nargs="?", type=numbered)
    retry = command(commands, "retry", "try a failed job or task again", _retry)
    which = retry.add_mutually_exclusive_group()
    number = "its number as `health` shows it; all failed jobs if left out"
    which.add_argument("job", nargs="?", type=numbered, help=number)
    which.add_argument("--task", type=numbered, metavar="TASK", help="ask for this failed task again, as a new one")
    pause = command(
        commands, "pause", "take no submissions", lambda c, o: finished(operations.pause(c.database, c.who, o.message))
    )
    pause.add_argument("message", help="why, shown to everybody")
    command(commands, "resume", "take submissions again", lambda c, o: finished(operations.resume(c.database, c.who)))
    for name, what, use_case in (
        ("ban", "shut an account out", people.ban),
        ("unban", "let it in again", people.unban),
    ):
        parser = command(commands, name, what, _on_account(use_case))
        parser.add_argument("account", help=_ACCOUNT)
        parser.add_argument("--reason", required=True)
    command(commands, "health", "queue, workers, failures, disks", _health)
    _add_accounts(group(commands, "accounts", "who has signed in here"))


def group(commands: Any, name: str, words: str) -> Any:
    """A command that only has commands below it: where these are added."""
    return commands.add_parser(name, help=words).add_subparsers(required=True, metavar="COMMAND")


def command(commands: Any, name: str, words: str, run: Command) -> Any:
    """A command with what runs it: the parser, for its arguments."""
    parser = commands.add_parser(name, help=words)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=run)
    return parser


def numbered(text: str) -> int:
    """As `whole_number`, in argparse's way."""
    try:
        return whole_number(text)
    except NotPossible as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def _add_accounts(commands: Any) -> None:
    listing = command(commands, "list", "id, name, role and submissions, the last seen first", _accounts)
    listing.add_argument("--search", default="", metavar="TEXT", help="only those with this in name or id")


def _accounts(c: Context, o: argparse.Namespace) -> Answer:
    found = directory.listing(c.database, c.who, c.benchmark, c.identity, o.search)
    return Answer(reports.accounts(found), as_data(found))


def _add_entries(commands: Any) -> None:
    simple: Sequence[tuple[str, str, Callable[[Database, Identity, str, str], Done]]] = (
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
    """Adds what may be shown of scores under a revision, and the consent to labels that hide little."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--disclosure", choices=LEVELS, default="", help=f"what is shown of scores; {usual}")
    how.add_argument("--public", action="store_true", help="these labels can be had elsewhere: hide nothing")
    meant = "take labels that nearly say the same as public ones"
    parser.add_argument("--accept-weak-hiding", action="store_true", help=meant)


def level_of(options: argparse.Namespace) -> dict[str, Any]:
    """What `add_level` has read, for a use case."""
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
    show.add_argument("task", type=numbered)
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
    revoke.add_argument("grant", type=numbered)
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
    log.add_argument("--limit", type=numbered, default=50)
    log.add_argument("--edits", action="store_true", help="entries that were described anew, too")


def _add_approvals(commands: Any) -> None:
    command(commands, "list", "what waits", _approvals)
    for name, words, use_case in (
        ("approve", "let a first submission through: it is scored at once", approvals.approve),
        ("reject", "turn it down; its owner reads the reason", approvals.reject),
    ):
        parser = command(commands, name, words, _on_entry(use_case))
        parser.add_argument("entry", metavar="SUBMISSION")
        parser.add_argument("--reason", required=True)


def _approvals(c: Context, o: argparse.Namespace) -> Answer:
    found = approvals.waiting(c.database, c.who, c.benchmark)
    lines = [
        f"{one.submission}  {one.submitted_at}  {one.model} {one.version}".rstrip()
        + f"  by {one.name} ({one.account}, {one.account_age_days} days old): {one.file}"
        for one in found
    ]
    return Answer("\n".join(lines) or "Nothing waits.", as_data(found))


def _add_suspicions(commands: Any) -> None:
    listing = command(commands, "list", "open suspicions, and how busy unknown accounts are", _suspicions)
    listing.add_argument("--all", action="store_true", help="those that are closed, too")
    for name, words, use_case in (
        ("dismiss", "close one: there is nothing in it", suspicions.dismiss),
        ("act", "close one: something was done, which the reason says", suspicions.act),
    ):
        parser = command(commands, name, words, _on_suspicion(use_case))
        parser.add_argument("suspicion", type=numbered)
        parser.add_argument("--reason", required=True)
    again = command(
        commands,
        "again",
        "have a worker look at every entry again",
        lambda c, o: finished(suspicions.look_again(c.database, c.who, o.reason)),
    )
    again.add_argument("--reason", required=True)


def _suspicions(c: Context, o: argparse.Namespace) -> Answer:
    found = suspicions.listing(c.database, c.who, c.benchmark, decided=o.all)
    busy = suspicions.alarm(c.database, c.who)
    return Answer(suspicion_words.as_text(found, busy), suspicion_words.as_data(found, busy))


def _on_suspicion(use_case: Callable[[Database, Identity, int, str], Done]) -> Command:
    return lambda c, o: finished(use_case(c.database, c.who, o.suspicion, o.reason))


def finished(done: Done) -> Answer:
    """What was done at once."""
    return Answer(done.message, as_data(done))


def _on_entry(use_case: Callable[[Database, Identity, str, str], Done]) -> Command:
    return lambda c, o: finished(use_case(c.database, c.who, o.entry, o.reason))


def _on_account(use_case: Callable[[Database, Identity, IdentitySettings | None, str, str], Done]) -> Command:
    return lambda c, o: finished(use_case(c.database, c.who, c.identity, o.account, o.reason))


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not FIELD=VALUE")
    return dict(text.split("=", 1) for text in texts)


def _edit(c: Context, o: argparse.Namespace) -> Answer:
    return finished(entries.edit(c.database, c.who, o.entry, _pairs(o.fields), c.parse, c.shipped()))


def _entries(c: Context, o: argparse.Namespace) -> Answer:
    found = listing.search(c.database, c.who, c.benchmark, o.search)
    return Answer(reports.entries_found(found), as_data(found))


def _history(c: Context, o: argparse.Namespace) -> Answer:
    changes = entries.history(c.database, c.who, o.entry)
    return Answer(reports.history(changes), as_data(changes))


def _transfer(c: Context, o: argparse.Namespace) -> Answer:
    return finished(entries.transfer(c.database, c.who, o.entry, o.account, o.reason))


def _merge(c: Context, o: argparse.Namespace) -> Answer:
    return finished(entries.merge(c.database, c.who, o.entry, o.into, o.reason))


def _import(c: Context, o: argparse.Namespace) -> Answer:
    local = Path(o.source)
    source = str(local.absolute()) if local.exists() else o.source
    told = (c.database, c.who, c.benchmark, o.revision, source, o.reason)
    done = labels.request_import(*told, **level_of(o))
    return followed(c, o, done)


def _revisions(c: Context, o: argparse.Namespace) -> Answer:
    found = labels.revisions(c.database, c.who, c.benchmark)
    return Answer(reports.revisions(found), as_data(found))


def _disclose(c: Context, o: argparse.Namespace) -> Answer:
    return finished(labels.disclose(c.database, c.who, c.benchmark, o.revision, o.reason, o.confirm))


def _discard(c: Context, o: argparse.Namespace) -> Answer:
    return followed(c, o, labels.request_discard(c.database, c.who, c.benchmark, o.revision, o.reason))


def _retire(c: Context, o: argparse.Namespace) -> Answer:
    typed = o.confirm if o.confirm is not None else c.ask(f"{labels.FOR_GOOD} To confirm, type {o.revision}: ")
    return followed(c, o, labels.request_retire(c.database, c.who, c.benchmark, o.revision, o.reason, typed))


def _preview(c: Context, o: argparse.Namespace) -> Answer:
    scope = {"entries": o.entry, "where": _pairs(o.where), "scorer_version": o.scorer_version}
    done = rescoring.request_preview(c.database, c.who, c.benchmark, o.revision, **scope)
    answer = followed(c, o, done)
    if not (o.wait and answer.ok and done.task_id is not None):
        return answer
    return _shown(c, done.task_id)


def _show(c: Context, o: argparse.Namespace) -> Answer:
    return _shown(c, o.task)


def _shown(c: Context, task_id: int) -> Answer:
    found = rescoring.preview(c.database, c.who, task_id)
    return Answer(reports.preview(found), found)


def _apply(c: Context, o: argparse.Namespace) -> Answer:
    expected = rescoring.confirmation_for(o.revision, o.scorer_version)
    effect = "" if o.entry or o.where else rescoring.effect(c.database, c.who, c.benchmark, o.revision)
    typed = o.confirm if o.confirm is not None else c.ask(f"{effect} Type {expected} to apply it: ".lstrip())
    told = (c.database, c.who, c.benchmark, o.revision, o.reason, typed)
    scope = {"entries": o.entry, "where": _pairs(o.where), "scorer_version": o.scorer_version}
    return followed(c, o, rescoring.request_apply(*told, **scope))


def _report(c: Context, o: argparse.Namespace) -> Answer:
    told = (c.database, c.who, c.benchmark, o.file.read_bytes(), o.reason)
    found = reported.import_file(*told, c.shipped(), dry_run=o.dry_run)
    return Answer(reports.reported_import(found), as_data(found))


def _reported(c: Context, o: argparse.Namespace) -> Answer:
    found = reported.results(c.database, c.who, c.benchmark)
    return Answer(reports.reported_results(found), as_data(found))


def _edit_reported(c: Context, o: argparse.Namespace) -> Answer:
    return finished(reported.edit(c.database, c.who, c.benchmark, o.result, _pairs(o.fields), o.reason))


def _on_result(use_case: Callable[[Database, Identity, str, str, str], Done]) -> Command:
    return lambda c, o: finished(use_case(c.database, c.who, c.benchmark, o.result, o.reason))


def _grant(c: Context, o: argparse.Namespace) -> Answer:
    return finished(allowances.grant(c.database, c.who, o.account, o.extra, o.reason))


def _revoke(c: Context, o: argparse.Namespace) -> Answer:
    return finished(allowances.revoke(c.database, c.who, o.grant, o.reason))


def _grants(c: Context, o: argparse.Namespace) -> Answer:
    found = allowances.listing(c.database, c.who)
    return Answer(reports.quota_grants(found), as_data(found))


def _backup(c: Context, o: argparse.Namespace) -> Answer:
    return followed(c, o, operations.request_backup(c.database, c.who))


def _undo(c: Context, o: argparse.Namespace) -> Answer:
    return finished(rescoring.undo(c.database, c.who, c.benchmark, o.revision, o.reason))


def followed(c: Context, o: argparse.Namespace, done: Done) -> Answer:
    """What was asked of a worker; waits for its end where that is wanted."""
    if not o.wait or done.task_id is None:
        return finished(done)
    seen = None
    while not (task := operations.task(c.database, c.who, done.task_id)).ended:
        if (now := (task.state, task.progress)) != seen:
            c.note(reports.progress(task))
            seen = now
        time.sleep(_WAIT_SECONDS)
    return Answer(reports.task(task), as_data(task), ok=task.state == "done")


def _tasks(c: Context, o: argparse.Namespace) -> Answer:
    if o.task is not None:
        one = operations.task(c.database, c.who, o.task)
        return Answer(reports.task(one), as_data(one))
    found = operations.recent_tasks(c.database, c.who)
    return Answer("\n".join(map(reports.task, found)) or "Nothing was asked yet.", as_data(found))


def _retry(c: Context, o: argparse.Namespace) -> Answer:
    if o.task is not None:
        return finished(again.ask_again(c.database, c.who, c.benchmark, o.task))
    if o.job is None:
        return finished(operations.requeue_all(c.database, c.who, c.benchmark))
    return finished(operations.requeue(c.database, c.who, o.job))


def _health(c: Context, o: argparse.Namespace) -> Answer:
    found = operations.health(c.database, c.who, c.benchmark, c.paths)
    data = [str(path) for path in c.paths]
    told = f"{reports.installation(c.benchmark, data)}\n{reports.health(found)}"
    return Answer(told, {"benchmark": c.benchmark, "data": data, **as_data(found)})


def _verify(c: Context, o: argparse.Namespace) -> Answer:
    head = chain.read_head(o.head.read_text("utf-8", "replace")) if o.head else None
    found = chain.verify(c.database, c.who, head)
    return Answer(found.sentence, as_data(found), ok=found.ok)


def _export(c: Context, o: argparse.Namespace) -> Answer:
    written = 0
    with o.output.open("w", encoding="ascii") as file:
        for line in chain.public(c.database):
            file.write(line)
            written += 1
    return Answer(f"{written:,} events are in {o.output}.", {"events": written, "output": str(o.output)})


def _head(c: Context, o: argparse.Namespace) -> Answer:
    found = chain.head(c.database, c.who)
    if o.output is not None:
        heads.write(o.output, found)
    where = f" is in {o.output}" if o.output else ""
    return Answer(f"{found['seq']} {found['hash']}{where}", found)


def _log(c: Context, o: argparse.Namespace) -> Answer:
    found = decisions(c.database, limit=o.limit, edits=o.edits)
    return Answer("\n".join(f"{one.at} {one.sentence}" for one in found), [one.to_json() for one in found])
