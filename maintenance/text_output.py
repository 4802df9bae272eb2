"""Plain-text output for a terminal. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from common.messages import Message, _, joined
from common.text import pluralize
from maintenance.database.queries import Change, RevisionRow, WorkerStatus
from storage.clock import iso, minute
from storage.jobs.tasks import TaskView
from storage.limits.quota_grants import GrantStatus

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.account_search import Directory
    from maintenance.actions.approvals import PendingApproval
    from maintenance.actions.entry_search import EntryMatches
    from maintenance.actions.operations import Health
    from maintenance.actions.reported import ImportResult, ReportedResultView

_GIB = 2**30
_LABELS_FLIP, _ITEMS_GO, _ITEMS_COME = _("{count} labels flip"), _("{count} items go"), _("{count} items come")


def history(changes: Sequence[Change]) -> str:
    """Return one line a changed field."""
    lines = []
    for change in changes:
        lines.append(f"{iso(change.at)} by {change.editor}")
        lines += [
            f"  {name}: {json.dumps(old)} -> {json.dumps(change.after[name])}" for name, old in change.before.items()
        ]
    return "\n".join(lines) or "Nothing was ever changed."


def revisions(result: Sequence[RevisionRow]) -> str:
    """Return one line a revision, with its difference below."""
    lines = []
    for one in result:
        kind = revision_kind(one) + (f", {one.disclosure}" if one.disclosure and one.retired_at is None else "")
        by = f"by {one.requested_by or 'the settings'}, {iso(one.came_at)}"
        by += f": {one.reason}" if one.reason else ""
        lines.append(f"{one.revision}: {pluralize(one.items, 'label')}, {kind}, {by}")
        if one.difference:
            lines.append(f"  against {one.difference.get('against')}: {label_difference(one.difference)}")
        if one.commitment:
            lines.append(f"  commitment {one.commitment}" + (f", salt {one.salt}" if one.salt else ""))
    return "\n".join(lines) or "There are no label revisions yet: start a worker."


def revision_kind(revision: RevisionRow) -> str:
    """Return what a revision is."""
    if revision.retired_at is not None:
        return _("retired")
    if revision.imported_at is None:
        return _("configured")
    return _("imported") if revision.published_at is not None else _("draft")


def label_difference(result: Mapping[str, Any]) -> str:
    """Return the counts in words."""
    if "flipped" not in result:
        return _("not compared")
    added, dropped = result["added"], result["dropped"]
    if result["flipped"] is None:
        return _("{added} added, {dropped} dropped, too few to tell how many flipped", added=added, dropped=dropped)
    tags = result["tags_changed"]
    about_tags = (
        _("only one of the two has error tags") if tags is None else _("{tags} with other error tags", tags=tags)
    )
    return _(
        "{flipped} flipped, {added} added, {dropped} dropped, {about_tags}",
        flipped=result["flipped"],
        added=added,
        dropped=dropped,
        about_tags=about_tags,
    )


def preview_summary(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is compared, and what changes: two sentences."""
    summary, largest = result["summary"], result["summary"]["largest_change"]
    compared = _(
        "From {before} to {after}: {difference}",
        before=board_words(result["from"]),
        after=board_words(result["to"]),
        difference=label_difference(result["labels"]),
    )
    significant = (
        _("{changes} to be significant.", changes=_significance_words(summary["significance_changed"]))
        if result.get("significance_compared", True)
        else _("significance is not compared, because the old scorer's rules are not here any more.")
    )
    entries = _("1 entry") if summary["entries"] == 1 else _("{count} entries", count=f"{summary['entries']:,}")
    changes = _(
        "{entries}: {changed} change, {moved} move in rank, "
        "the macro average by at most {points} points; {significant}",
        entries=entries,
        changed=f"{summary['changed']:,}",
        moved=f"{summary['moved']:,}",
        points=f"{0.0 if largest is None else 100 * largest:.2f}",
        significant=significant,
    )
    return compared, changes


def _significance_words(number: int) -> str:
    if number == 1:
        return _("1 difference between neighbours becomes or ceases")
    return _("{count} differences between neighbours become or cease", count=f"{number:,}")


def preview(result: Mapping[str, Any]) -> str:
    """Return the summary, then one line an entry that changes."""
    lines = list(preview_summary(result))
    lines += filter(None, [(result.get("disclosure") or {}).get("readers"), counterfactual(result)])
    lines.append(f"{'rank':>5}{'':9}" + "".join(f"{column:<18}" for column in result["columns"]) + "entry")
    for row in result["entries"]:
        name = f"{row['model']} {row['version']}".strip()
        measured = "".join(f"{_points(row[column]):<18}" for column in result["columns"])
        lines.append(f"{_move(row['rank'])} {measured}{row['id']}  {name}")
    names = {row["id"]: f"{row['model']} {row['version']}".strip() for row in result["entries"]}
    for one in result["significance"]:
        pair = " - ".join(names.get(one[side], one[side]) for side in ("first", "second"))
        lines.append(f"p {one['p'][0]:.3f} -> {one['p'][1]:.3f}  {pair}")
    return "\n".join(lines)


def counterfactual(result: Mapping[str, Any]) -> str:
    """Return what happens to the ranks if the labels change so: one sentence; empty where no label changes.

    Of a draft of few pairs, which tells no number, it says the same whether one changes or none does.
    """
    changes = result["labels"]
    verbs = (
        ("flipped", _("1 label flips"), _LABELS_FLIP),
        ("dropped", _("1 item goes"), _ITEMS_GO),
        ("added", _("1 item comes"), _ITEMS_COME),
    )
    parts = [
        one if changes[name] == 1 else Message(many, {"count": changes[name]})
        for name, one, many in verbs
        if changes.get(name)
    ]
    if changes.get("flipped", 0) is None:
        parts = [_("the labels change so")]
    if not parts:
        return ""
    return _("If {changes}, {effect}.", changes=joined(parts, _(" and ")), effect=_effect(result))


def _effect(result: Mapping[str, Any]) -> str:
    """Return what happens to the ranks."""
    summary = result["summary"]
    moves = [row["rank"] for row in result["entries"] if row["rank"][0] != row["rank"][1]]
    if not summary["moved"]:
        return _("no rank changes")
    if len(moves) == summary["moved"] == 2 and moves[0] == moves[1][::-1]:
        first, second = sorted(moves[0])
        return _("ranks {first} and {second} swap", first=first, second=second)
    moved, entries = f"{summary['moved']:,}", f"{summary['entries']:,}"
    return _("{moved} of {entries} entries change their rank", moved=moved, entries=entries)


def board_words(pointer: Mapping[str, Any]) -> str:
    """Return what a board shows."""
    revision, version = pointer["label_revision"], pointer.get("scorer_version")
    if not version:
        return _("label revision {revision}", revision=revision)
    return _("label revision {revision}, scorer version {version}", revision=revision, version=version)


def _move(rank: Sequence[int | None]) -> str:
    before, after = ("-" if one is None else str(one) for one in rank)
    return f"{before:>5} -> {after:<5}"


def _points(shares: Sequence[float | None]) -> str:
    before, after = ("    -" if share is None else f"{100 * share:5.2f}" for share in shares)
    return f"{before} -> {after}"


def progress(task: TaskView) -> str:
    """Return how far a task is."""
    of = f", {task.progress} of {task.total} entries" if task.total else ""
    state = "waits for a worker" if task.state == "queued" else f"is {task.state}"
    return f"task {task.id} {state}{of}"


def task(one: TaskView) -> str:
    """Return one line."""
    return f"task {one.id}: {one.kind} {one.subject}: {one.state}. {one.outcome}".rstrip()


def backup(result: Health) -> str:
    """Return the newest copy of the database, and whether the last attempt failed."""
    made, failed = result.backup, result.backup_failed
    words = "none yet"
    if made is not None:
        words = f"{minute(made.started_at)}, {made.name}, {_size(made.size_bytes or 0)}"
    return words + (f"; failed {minute(failed.started_at)}: {failed.error}" if failed is not None else "")


def _size(number: int) -> str:
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.0f} KiB"


def reported_import(import_result: ImportResult) -> str:
    """Return what an import has done, what arithmetic says about each new row, and which names look like an entry's."""
    return "\n".join([import_result.message, *map(_reported, import_result.new), *import_result.alike])


def reported_results(results: Sequence[ReportedResultView]) -> str:
    """Return one line a result."""
    return "\n".join(map(_reported, results)) or "Nothing was imported yet."


def _reported(result: ReportedResultView) -> str:
    numbers = " ".join(f"{name} {value:g}" for name, value in result.figures.items() if value is not None)
    removed = f"  REMOVED: {result.removed}" if result.removed else ""
    return f"{result.id}  {result.name}  {numbers}  ({result.check})  {result.url}{removed}"


def quota_grants(grants: Sequence[GrantStatus]) -> str:
    """Return one line a grant."""
    lines = [
        f"{grant.id}: {grant.account}, {grant.used} of {grant.extra} used"
        f"{', ended' if grant.revoked_at is not None else ''}: {grant.reason} "
        f"({iso(grant.granted_at)} by {grant.granted_by})"
        for grant in grants
    ]
    return "\n".join(lines) or "Nothing was granted yet."


def entries_found(entry_matches: EntryMatches) -> str:
    """Return one line an entry."""
    lines = [
        f"{entry.id}  {entry.model} {entry.version}".rstrip()
        + f"  by {entry.owner_name or entry.owner} ({entry.owner}), {iso(entry.submitted_at)}: {entry.standing}"
        for entry in entry_matches.entries
    ]
    return "\n".join(lines + _more(entry_matches.number - len(lines))) or "No such entry."


def _more(number: int) -> list[str]:
    return [f"and {number:,} more: search for part of a name or id"] if number > 0 else []


def accounts(directory: Directory) -> str:
    """Return one line an account."""
    lines = [
        f"{account.id}  {account.name}  {account.role or 'role not known here'}, "
        f"{'' if account.banned_at is None else 'BANNED, '}{pluralize(account.submissions, 'submission')}, "
        f"first seen {iso(account.first_seen_at)}, last {iso(account.last_seen_at)}"
        for account in directory.accounts
    ]
    return "\n".join(lines + _more(directory.number - len(lines))) or directory.nobody


def installation(benchmark: str, data: Sequence[str]) -> str:
    """Return which one the settings of this shell name."""
    return f"benchmark: {benchmark}, data in {', '.join(data)}"


def last_sign(worker_status: WorkerStatus) -> str:
    """Return when a worker was last seen, or since when it is missed."""
    if worker_status.silent_since is not None:
        return _("silent since {at}", at=minute(worker_status.silent_since))
    return _("last seen {seconds} s ago", seconds=f"{worker_status.seconds_ago:.0f}")


def health(result: Health) -> str:
    """Return a page of it."""
    lines = [
        f"board: label revision {result.label_revision}, scorer version {result.scorer_version}",
        "submissions: " + (f"paused ({result.paused})" if result.paused else "taken"),
        "jobs: " + ", ".join(f"{number} {state}" for state, number in result.jobs.items()),
        "tasks: " + ", ".join(f"{number} {state}" for state, number in result.tasks.items()),
    ]
    if result.advice is not None:
        lines.append(result.advice)
    lines.append(f"last backup: {backup(result)}")
    if result.waiting_seconds is not None:
        lines.append(f"the oldest job has waited for {result.waiting_seconds:.0f} s")
    lines += [f"worker {worker.name}: {last_sign(worker)}" for worker in result.workers] or ["no worker"]
    lines += [
        f"job {failure.job_id} failed: {failure.model} ({failure.submission_id}) "
        f"under {failure.label_revision}: {failure.reason}"
        for failure in result.failures
    ]
    lines += [task(failed_task) for failed_task in result.failed_tasks]
    lines += [
        f"disk of {disk.path}: {disk.free / _GIB:.1f} of {disk.total / _GIB:.1f} GiB free" for disk in result.disks
    ]
    if result.busy is not None and result.busy.raised:
        lines.append(f"ALARM: {result.busy.sentence}")
    if result.integrity is not None:
        lines.append(f"ALARM: {result.integrity.sentence}")
    checked = result.integrity_checked_at
    lines.append(f"stored rows compared with the audit chain: {'not yet' if checked is None else iso(checked)}")
    lines += [f"accepted: {one.sentence}" for one in result.weakly_hidden if one.accepted]
    lines.append(f"suspicions: {result.suspicions} open")
    return "\n".join([*lines, f"audit chain: {result.chain_seq} events"])


def approvals(waiting: Sequence[PendingApproval]) -> str:
    """Return one line a submission."""
    lines = [
        f"{approval.submission}  {approval.submitted_at}  {approval.model} {approval.version}".rstrip()
        + f"  by {approval.name} ({approval.account}, {approval.account_age_days} days old): "
        + approval.file
        for approval in waiting
    ]
    return "\n".join(lines) or "Nothing waits."
