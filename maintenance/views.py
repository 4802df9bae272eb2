"""Views of the results of maintainers' actions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from maintenance import preview_rows
from maintenance.database.approval_queries import PendingApproval
from maintenance.database.queries import Change, RevisionRow, WorkerStatus
from maintenance.decision_log import label_difference
from maintenance.types import plural
from maintenance.view import NOTHING, Row, Table, TableCell, View
from storage.clock import minute
from storage.jobs.tasks import TaskView
from storage.metadata import label
from vlrb.common.rounding import one_decimal, percent
from vlrb.disclosure import PUBLIC, measured_sentence

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.accounts import Directory
    from maintenance.actions.entry_search import EntryDetails, EntryMatches
    from maintenance.actions.operations import Health
    from maintenance.actions.reported import ImportResult, ReportedResultView
    from storage.integrity.integrity_check import ChainCheck

_DIGITS = 12  # of a commitment or key, as far as it is shown
_MOST = 200  # rows of a preview; the files have all
_CHANGES = {"flipped": "inverted", "added": "added", "dropped": "dropped", "tags": "other error tags"}


def shortened(text: str | None) -> TableCell:
    """Return the beginning of a digest or key, which the cell holds whole."""
    return TableCell(f"{text[:_DIGITS]}…", whole=text) if text else TableCell(NOTHING)


def entry_link(entry: str, name: str) -> TableCell:
    """Return the name of an entry, which leads to its page."""
    return TableCell(name, link=f"/entries/{entry}")


# --- entries and accounts ---------------------------------------------------------------------------------------------


def entries_found(found: EntryMatches) -> View:
    """Return entries that were searched for."""
    rows = [
        Row(
            (
                entry_link(row.id, name),
                row.id,
                TableCell(row.owner, account=True),
                minute(row.submitted_at),
                row.standing,
            ),
            key=row.id,
            name=f"{name} ({row.id})",
            without=_impossible_decisions(row.standing, verified=row.verified, noted=row.noted),
        )
        for row in found.entries
        for name in [f"{row.model} {row.version}".strip()]
    ]
    head = ("Judge", "Id", "Owner", "Submitted", "State")
    table = Table(f"Entries ({found.number:,})", head, rows, "No such entry.", parameter="entry", shows="entries.show")
    return View(tables=[table], pages=(found.page, found.pages))


def _impossible_decisions(standing: str, *, verified: bool, noted: bool) -> list[str]:
    """Return the decisions that would change nothing about an entry."""
    without = {
        "entries.hide": standing == "is hidden",
        "entries.withdraw": standing == "is withdrawn",
        "entries.restore": standing not in ("is hidden", "is withdrawn"),
        "entries.verify": verified,
        "entries.unverify": not verified,
        "entries.unflag": not noted,
    }
    return [name for name, useless in without.items() if useless]


def entry(details: EntryDetails) -> View:
    """Return an entry, what holds for it, and how its description changed."""
    held = details.entry
    verified = "no" if held.verified_at is None else minute(held.verified_at)
    facts = [
        ("State", f"The entry {details.standing}."),
        ("Reason shown", held.withdrawn_reason or NOTHING),
        ("Verified", verified),
        ("Public note", held.flag or NOTHING),
        ("Owner", held.owner),
        *((label(name), _field_text(value)) for name, value in details.metadata.items() if value not in (None, "")),
    ]
    return View(facts=facts, tables=history(details.history).tables)


def history(changes: Sequence[Change]) -> View:
    """Return the changes of an entry's description, a row a field."""
    rows = [
        Row(
            (
                minute(change.at),
                TableCell(change.editor, account=True),
                label(name),
                _field_text(old),
                _field_text(change.after[name]),
            )
        )
        for change in changes
        for name, old in change.before.items()
    ]
    return View(tables=[Table("Changes", ("At", "By", "Field", "Was", "Became"), rows, "Nothing was ever changed.")])


def _field_text(value: object) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value}".removesuffix(".0") if isinstance(value, float) else f"{value}"


def accounts(directory: Directory) -> View:
    """Return the accounts that have signed in."""
    rows = [
        Row(
            (
                account.name,
                account.id,
                account.role or "role not known here",
                account.submissions,
                minute(account.first_seen_at),
                minute(account.last_seen_at),
                "no" if account.banned_at is None else f"since {minute(account.banned_at)}",
            ),
            key=account.id,
            name=f"{account.name} ({account.id})",
            without=("accounts.unban",) if account.banned_at is None else ("accounts.ban",),
        )
        for account in directory.accounts
    ]
    head = ("Name", "Account", "Role", "Submissions", "First seen", "Last seen", "Banned")
    nobody = "No account matches this search." if directory.search else "Nobody has signed in yet."
    table = Table("Accounts", head, rows, nobody, parameter="account")
    more = directory.number - len(rows)
    return View([f"{more:,} more: search for part of a name or id."] if more > 0 else [], tables=[table])


def approvals(waiting: Sequence[PendingApproval]) -> View:
    """Return submissions that wait."""
    rows = [
        Row(
            (
                approval.submission,
                name,
                f"{approval.name} ({approval.account})",
                ", ".join(approval.organisations),
                approval.account_age_days,
                minute(approval.submitted_at),
                approval.file,
                approval.why,
            ),
            key=approval.submission,
            name=f"{name} ({approval.name})",
        )
        for approval in waiting
        for name in [f"{approval.model} {approval.version}".strip()]
    ]
    head = ("Submission", "Judge", "Account", "Organisations", "Days old", "Submitted", "File", "Why it waits")
    nothing = "Nothing waits for this benchmark. `health` has the number of each."
    return View(tables=[Table("Waiting", head, rows, nothing, parameter="entry")])


def reported_results(results: Sequence[ReportedResultView]) -> View:
    """Return all results that were published elsewhere."""
    return View(tables=[_reported_table("Reported results", results, nothing="There are none.")])


def reported_import(result: ImportResult) -> View:
    """Return what an import has done, and what arithmetic says about each new row."""
    table = _reported_table("New rows", result.new)
    return View([result.message], tables=[table] if result.new else [])


def _reported_table(title: str, results: Sequence[ReportedResultView], *, nothing: str = "") -> Table:
    rows = [
        Row(
            (
                result.name,
                result.id,
                *tuple(TableCell(NOTHING if value is None else one_decimal(value), number=True) for value in figures),
                result.check,
                TableCell(result.source, link=result.url if result.url.startswith("http") else ""),
                result.removed or "on the board",
            ),
            key=result.id,
            name=f"{result.name} ({result.id})",
            without=() if result.removed is None else ("reported.remove",),
        )
        for result in results
        for figures in [result.figures.values()]
    ]
    titles = [name.capitalize() for result in results[:1] for name in result.figures]
    return Table(title, ("Judge", "Id", *titles, "Arithmetic", "Source", "State"), rows, nothing, parameter="result")


# --- labels and scores ------------------------------------------------------------------------------------------------


def revisions(result: Sequence[RevisionRow]) -> View:
    """Return all label revisions."""
    rows = [
        Row(
            (
                row.revision,
                row.items,
                revision_kind(row),
                "" if row.retired_at is not None else row.disclosure or "as configured",
                f"{row.difference.get('against')}: {label_difference(row.difference)}" if row.difference else "",
                row.reason,
                TableCell(row.requested_by, account=True) if row.requested_by else "settings",
                minute(row.came_at),
                shortened(row.commitment),
                shortened(row.salt),
            ),
            key=row.revision,
            name=row.revision,
            without=_impossible_changes(row),
        )
        for row in result
    ]
    head = ("Revision", "Labels", "Kind", "Disclosure", "Against", "Why", "By", "At", "Commitment", "Salt")
    nothing = "There are no label revisions yet: start a worker."
    return View(tables=[Table("Revisions", head, rows, nothing, parameter="revision", several=False)])


def revision_kind(revision: RevisionRow) -> str:
    """Return what a revision is."""
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


def preview(result: Mapping[str, Any]) -> View:
    """Return what applying would change, those entries first that move furthest."""
    entries, pairs = preview_rows.by_move(result["entries"], result["columns"]), result.get("pairs") or ()
    rules = result.get("rules") or {"before": {}, "after": {}}
    lines = [
        *(f"{name}: {old or NOTHING} → {rules['after'][name] or NOTHING}." for name, old in rules["before"].items()),
        (result.get("disclosure") or {}).get("readers"),
        *preview_summary(result),
    ]
    if len(entries) > _MOST or len(pairs) > _MOST:
        lines.append(f"At most {_MOST} rows of a table are shown. The files have all of them.")
    if "pairs" not in result:
        lines.append("Which labels change is not shown here, because not all of them are public.")
    columns = ("Judge", "Id", "Rank", "Rank range", *(name.capitalize() for name in result["columns"]))
    rows = [_preview_row(row, result["columns"]) for row in entries[:_MOST]]
    head = ("Pair", "Category", "Change", "Before", "After")
    changed = Table("Labels that change", head, [_pair_row(pair) for pair in pairs[:_MOST]])
    tables = [Table("Entries", columns, rows, "None."), changed]
    return View([f"{line}" for line in lines if line], tables=tables)


def preview_summary(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is compared, and what changes: two sentences."""
    summary, largest = result["summary"], result["summary"]["largest_change"]
    compared = (
        f"From {board_words(result['from'])} to {board_words(result['to'])}: {label_difference(result['labels'])}"
    )
    entries = plural(summary["entries"], "entry", many="entries")
    return compared, (
        f"{entries}: {summary['changed']:,} change, {summary['moved']:,} move in rank, the macro average by at most "
        f"{100 * (largest or 0.0):.2f} points."
    )


def board_words(pointer: Mapping[str, Any]) -> str:
    """Return what a board shows."""
    version = pointer.get("scorer_version")
    return f"label revision {pointer['label_revision']}" + (f", scorer version {version}" if version else "")


def _preview_row(row: Mapping[str, Any], columns: Sequence[str]) -> Row:
    sides = ["-".join(map(str, dict.fromkeys(side))) if side else NOTHING for side in preview_rows.ranges(row)]
    ranges = NOTHING if sides == [NOTHING, NOTHING] else " → ".join(dict.fromkeys(sides))
    name = entry_link(row["id"], f"{row['model']} {row['version']}".strip())
    numbers = (_rank_words(row), ranges, *(_points(row[column]) for column in columns))
    return Row((name, row["id"], *(TableCell(text, number=True) for text in numbers)))


def _rank_words(row: Mapping[str, Any]) -> str:
    """Return both ranks and the move; one rank where it stays."""
    before, after = (NOTHING if rank is None else f"{rank}" for rank in row["rank"])
    gained = preview_rows.move(row)
    if before == after:
        return before
    return f"{before} → {after}" + (f" ({'▲' if gained > 0 else '▼'}{abs(gained)})" if gained else "")


def _points(shares: Sequence[float | None]) -> str:
    before, after = shares
    if before is None or after is None:
        return NOTHING
    change = round(100 * (after - before), 2)
    moved = f"{change:+.2f}".replace("-", "\u2212") if change else "±0.00"  # the minus of the public pages
    return f"{percent(before)} → {percent(after)} ({moved})"


def _pair_row(pair: Mapping[str, Any]) -> Row:
    sides = [(pair[f"tags_{side}"] if pair["change"] == "tags" else [pair[side]]) for side in ("before", "after")]
    name = TableCell(pair["pair"], link=f"/explore/{quote(pair['pair'], safe='')}")
    return Row((name, pair["category"], _CHANGES[pair["change"]], *(", ".join(side) for side in sides)))


# --- the service ------------------------------------------------------------------------------------------------------


def task(view: TaskView) -> View:
    """Return how far a task is, or what came of it."""
    words = task_line(view) if view.ended else progress(view)
    return View([words], good=view.state != "failed", waits=not view.ended)


def task_line(view: TaskView) -> str:
    """Return a task in one line."""
    return f"task {view.id}: {view.kind} {view.subject}: {view.state}. {view.outcome}".strip()


def progress(view: TaskView) -> str:
    """Return how far a task is."""
    state = "waits for a worker" if view.state == "queued" else f"is {view.state}"
    done = f", {view.progress} of {view.total} entries" if view.total else ""
    return f"task {view.id} ({view.kind} {view.subject}) {state}{done}"


def tasks(result: Sequence[TaskView]) -> View:
    """Return what workers were asked lately."""
    return View(tables=[_tasks("Recent tasks", result, nothing="Nothing was asked yet.")])


def _tasks(title: str, result: Sequence[TaskView], *, nothing: str = "") -> Table:
    rows = [
        Row(
            (
                view.id,
                view.kind,
                view.subject,
                view.state,
                view.outcome,
                minute(view.created_at),
                TableCell(view.requested_by, account=True),
            ),
            key=f"{view.id}",
            name=f"{view.kind} {view.subject}",
        )
        for view in result
    ]
    head = ("Task", "What", "About", "State", "Result", "Asked", "By")
    return Table(title, head, rows, nothing, parameter="task", shows="tasks.show")


def health(result: Health) -> View:
    """Return the state of the service, workers, and what has failed."""
    workers = [Row((worker.name, minute(worker.started_at), last_sign(worker))) for worker in result.workers]
    failed = [
        Row(
            (job.job_id, job.submission_id, job.model, job.label_revision, job.reason),
            key=f"{job.job_id}",
            name=f"{job.model}, {job.label_revision}",
        )
        for job in result.failures
    ]
    tables = (
        Table("Workers", ("Worker", "Started", "Last heartbeat"), workers, "No worker is running."),
        Table(
            "Failed jobs", ("Job", "Entry", "Model", "Labels", "Reason"), failed, "No job has failed.", parameter="job"
        ),
        _tasks("Failed tasks", result.failed_tasks, nothing="No task has failed."),
    )
    alarms = [f"{alarm.sentence}" for alarm in result.alarms]
    return View(alarms=alarms, facts=[*_health_facts(result)], tables=tables, good=not alarms)


def _health_facts(result: Health) -> Iterator[tuple[str, str]]:
    yield "Benchmark", f"{result.benchmark}, data in {', '.join(result.data)}"
    yield "Submissions", f"paused: {result.paused}" if result.paused else "open"
    values = {"label_revision": result.label_revision, "scorer_version": result.scorer_version}
    yield "The board shows", board_words(values)
    yield "Jobs", ", ".join(f"{number} {state}" for state, number in result.jobs.items() if number) or "none"
    yield "Longest wait", NOTHING if result.waiting_seconds is None else f"{result.waiting_seconds:.0f} s"
    yield "Approvals", ", ".join(f"{name} {number:,}" for name, number in result.approvals.items()) or "none waiting"
    checked = result.integrity_checked_at
    yield "Rows compared with the chain", "not yet" if checked is None else minute(checked)
    for revision, measured in result.measured.items():
        if measured:
            yield f"Hidden labels {revision}", f"{measured_sentence(measured)}"
    yield "Commit", result.commit


def last_sign(worker: WorkerStatus) -> str:
    """Return when a worker was last seen, or since when it is missed."""
    if worker.silent_since is not None:
        return f"silent since {minute(worker.silent_since)}"
    return f"last seen {worker.seconds_ago:.0f} s ago"


def chain_check(result: ChainCheck) -> View:
    """Return whether the audit chain holds."""
    return View(f"{result.sentence}".split("\n"), good=result.ok)


def head(result: Mapping[str, Any]) -> View:
    """Return the last link of the audit chain."""
    return View([json.dumps(result)])
