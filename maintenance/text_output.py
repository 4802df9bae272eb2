"""Plain-text output for a terminal. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from common.text import pluralize
from maintenance.database.queries import Change, RevisionRow, WorkerStatus
from storage.clock import iso, minute
from storage.jobs.tasks import TaskView
from storage.quota_grants import GrantStatus

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.account_search import Directory
    from maintenance.actions.approvals import PendingApproval
    from maintenance.actions.entry_search import EntryMatches
    from maintenance.actions.operations import Health
    from maintenance.actions.reported import ImportResult, ReportedResultView

_GIB = 2**30
_COMES_OR_GOES = "difference between neighbours becomes or ceases"
_COME_OR_GO = "differences between neighbours become or cease"


def history(changes: Sequence[Change]) -> str:
    """Return one line a changed field."""
    lines = []
    for one in changes:
        lines.append(f"{iso(one.at)} by {one.editor}")
        lines += [f"  {name}: {json.dumps(old)} -> {json.dumps(one.after[name])}" for name, old in one.before.items()]
    return "\n".join(lines) or "Nothing was ever changed."


def revisions(found: Sequence[RevisionRow]) -> str:
    """Return one line a revision, with its difference below."""
    lines = []
    for one in found:
        kind = revision_kind(one) + (f", {one.disclosure}" if one.disclosure and one.retired_at is None else "")
        by = f"by {one.requested_by or 'the settings'}, {iso(one.came_at)}"
        by += f": {one.reason}" if one.reason else ""
        lines.append(f"{one.revision}: {pluralize(one.items, 'label')}, {kind}, {by}")
        if one.difference:
            lines.append(f"  against {one.difference.get('against')}: {label_difference(one.difference)}")
        if one.commitment:
            lines.append(f"  commitment {one.commitment}" + (f", salt {one.salt}" if one.salt else ""))
    return "\n".join(lines) or "There are no label revisions yet: start a worker."


def revision_kind(one: RevisionRow) -> str:
    """Return what a revision is."""
    if one.retired_at is not None:
        return "retired"
    return "configured" if one.imported_at is None else "imported" if one.published_at is not None else "draft"


def label_difference(found: Mapping[str, Any]) -> str:
    """Return the counts in words."""
    if "flipped" not in found:
        return "not compared"
    if found["flipped"] is None:
        return f"{found['added']} added, {found['dropped']} dropped, too few to tell how many flipped"
    tags = found["tags_changed"]
    about_tags = "only one of the two has error tags" if tags is None else f"{tags} with other error tags"
    return f"{found['flipped']} flipped, {found['added']} added, {found['dropped']} dropped, {about_tags}"


def preview(found: Mapping[str, Any]) -> str:
    """Return the summary, then one line an entry that changes."""
    summary = found["summary"]
    largest = summary["largest_change"]
    lines = [
        f"From {board_words(found['from'])} to {board_words(found['to'])}: " + label_difference(found["labels"]),
        f"{pluralize(summary['entries'], 'entry', 'entries')}: {summary['changed']:,} change, "
        f"{summary['moved']:,} move in rank, "
        f"the macro average by at most {0.0 if largest is None else 100 * largest:.2f} points; "
        + (
            f"{pluralize(summary['significance_changed'], _COMES_OR_GOES, _COME_OR_GO)} to be significant."
            if found.get("significance_compared", True)
            else "significance is not compared, because the old scorer's rules are not here any more."
        ),
    ]
    lines += filter(None, [(found.get("disclosure") or {}).get("readers"), counterfactual(found)])
    lines.append(f"{'rank':>5}{'':9}" + "".join(f"{column:<18}" for column in found["columns"]) + "entry")
    for row in found["entries"]:
        name = f"{row['model']} {row['version']}".strip()
        measured = "".join(f"{_points(row[column]):<18}" for column in found["columns"])
        lines.append(f"{_move(row['rank'])} {measured}{row['id']}  {name}")
    names = {row["id"]: f"{row['model']} {row['version']}".strip() for row in found["entries"]}
    for one in found["significance"]:
        pair = " - ".join(names.get(one[side], one[side]) for side in ("first", "second"))
        lines.append(f"p {one['p'][0]:.3f} -> {one['p'][1]:.3f}  {pair}")
    return "\n".join(lines)


def counterfactual(found: Mapping[str, Any]) -> str:
    """Return what happens to the ranks if the labels change so: one sentence; empty where no label changes.

    Of a draft of few pairs, which tells no number, it says the same whether one changes or none does.
    """
    changes = found["labels"]
    verbs = (
        ("flipped", "label flips", "labels flip"),
        ("dropped", "item goes", "items go"),
        ("added", "item comes", "items come"),
    )
    parts = [f"{changes[name]} {one if changes[name] == 1 else many}" for name, one, many in verbs if changes.get(name)]
    if changes.get("flipped", 0) is None:
        parts = ["the labels change so"]
    if not parts:
        return ""
    moves = [row["rank"] for row in found["entries"] if row["rank"][0] != row["rank"][1]]
    if not found["summary"]["moved"]:
        effect = "no rank changes"
    elif len(moves) == found["summary"]["moved"] == 2 and moves[0] == moves[1][::-1]:
        effect = "ranks {} and {} swap".format(*sorted(moves[0]))
    else:
        effect = f"{found['summary']['moved']:,} of {found['summary']['entries']:,} entries change their rank"
    return f"If {' and '.join(parts)}, {effect}."


def board_words(pointer: Mapping[str, Any]) -> str:
    """Return what a board shows."""
    version = pointer.get("scorer_version")
    return f"label revision {pointer['label_revision']}" + (f", scorer version {version}" if version else "")


def _move(rank: Sequence[int | None]) -> str:
    before, after = ("-" if one is None else str(one) for one in rank)
    return f"{before:>5} -> {after:<5}"


def _points(shares: Sequence[float | None]) -> str:
    before, after = ("    -" if one is None else f"{100 * one:5.2f}" for one in shares)
    return f"{before} -> {after}"


def progress(task: TaskView) -> str:
    """Return how far a task is."""
    of = f", {task.progress} of {task.total} entries" if task.total else ""
    state = "waits for a worker" if task.state == "queued" else f"is {task.state}"
    return f"task {task.id} {state}{of}"


def task(one: TaskView) -> str:
    """Return one line."""
    return f"task {one.id}: {one.kind} {one.subject}: {one.state}. {one.outcome}".rstrip()


def backup(found: Health) -> str:
    """Return the newest copy of the database, and whether the last attempt failed."""
    made, failed = found.backup, found.backup_failed
    words = "none yet"
    if made is not None:
        words = f"{minute(made.started_at)}, {made.name}, {_size(made.size_bytes or 0)}"
    return words + (f"; failed {minute(failed.started_at)}: {failed.error}" if failed is not None else "")


def _size(number: int) -> str:
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.0f} KiB"


def reported_import(found: ImportResult) -> str:
    """Return what an import has done, what arithmetic says about each new row, and which names look like an entry's."""
    return "\n".join([found.message, *map(_reported, found.new), *found.alike])


def reported_results(found: Sequence[ReportedResultView]) -> str:
    """Return one line a result."""
    return "\n".join(map(_reported, found)) or "Nothing was imported yet."


def _reported(one: ReportedResultView) -> str:
    numbers = " ".join(f"{name} {value:g}" for name, value in one.figures.items() if value is not None)
    removed = f"  REMOVED: {one.removed}" if one.removed else ""
    return f"{one.id}  {one.name}  {numbers}  ({one.check})  {one.url}{removed}"


def quota_grants(found: Sequence[GrantStatus]) -> str:
    """Return one line a grant."""
    lines = [
        f"{one.id}: {one.account}, {one.used} of {one.extra} used{', ended' if one.revoked_at is not None else ''}: "
        f"{one.reason} ({iso(one.granted_at)} by {one.granted_by})"
        for one in found
    ]
    return "\n".join(lines) or "Nothing was granted yet."


def entries_found(found: EntryMatches) -> str:
    """Return one line an entry."""
    lines = [
        f"{one.id}  {one.model} {one.version}".rstrip()
        + f"  by {one.owner_name or one.owner} ({one.owner}), {iso(one.submitted_at)}: {one.standing}"
        for one in found.entries
    ]
    return "\n".join(lines + _more(found.number - len(lines))) or "No such entry."


def _more(number: int) -> list[str]:
    return [f"and {number:,} more: search for part of a name or id"] if number > 0 else []


def accounts(found: Directory) -> str:
    """Return one line an account."""
    lines = [
        f"{one.id}  {one.name}  {one.role or 'role not known here'}, {'' if one.banned_at is None else 'BANNED, '}"
        f"{pluralize(one.submissions, 'submission')}, first seen {iso(one.first_seen_at)}, last {iso(one.last_seen_at)}"
        for one in found.accounts
    ]
    return "\n".join(lines + _more(found.number - len(lines))) or found.nobody


def installation(benchmark: str, data: Sequence[str]) -> str:
    """Return which one the settings of this shell name."""
    return f"benchmark: {benchmark}, data in {', '.join(data)}"


def last_sign(one: WorkerStatus) -> str:
    """Return when a worker was last seen, or since when it is missed."""
    if one.silent_since is not None:
        return f"silent since {minute(one.silent_since)}"
    return f"last seen {one.seconds_ago:.0f} s ago"


def health(found: Health) -> str:
    """Return a page of it."""
    lines = [
        f"board: label revision {found.label_revision}, scorer version {found.scorer_version}",
        "submissions: " + (f"paused ({found.paused})" if found.paused else "taken"),
        "jobs: " + ", ".join(f"{number} {state}" for state, number in found.jobs.items()),
        "tasks: " + ", ".join(f"{number} {state}" for state, number in found.tasks.items()),
    ]
    if found.advice is not None:
        lines.append(found.advice)
    lines.append(f"last backup: {backup(found)}")
    if found.waiting_seconds is not None:
        lines.append(f"the oldest job has waited for {found.waiting_seconds:.0f} s")
    lines += [f"worker {one.name}: {last_sign(one)}" for one in found.workers] or ["no worker"]
    lines += [
        f"job {one.job_id} failed: {one.model} ({one.submission_id}) under {one.label_revision}: {one.reason}"
        for one in found.failures
    ]
    lines += [task(one) for one in found.failed_tasks]
    lines += [f"disk of {one.path}: {one.free / _GIB:.1f} of {one.total / _GIB:.1f} GiB free" for one in found.disks]
    if found.busy is not None and found.busy.raised:
        lines.append(f"ALARM: {found.busy.sentence}")
    if found.integrity is not None:
        lines.append(f"ALARM: {found.integrity.sentence}")
    checked = found.integrity_checked_at
    lines.append(f"stored rows compared with the audit chain: {'not yet' if checked is None else iso(checked)}")
    lines += [f"accepted: {one.sentence}" for one in found.weakly_hidden if one.accepted]
    lines.append(f"suspicions: {found.suspicions} open")
    return "\n".join([*lines, f"audit chain: {found.chain_seq} events"])


def approvals(found: Sequence[PendingApproval]) -> str:
    """Return one line a submission."""
    lines = [
        f"{one.submission}  {one.submitted_at}  {one.model} {one.version}".rstrip()
        + f"  by {one.name} ({one.account}, {one.account_age_days} days old): {one.file}"
        for one in found
    ]
    return "\n".join(lines) or "Nothing waits."
