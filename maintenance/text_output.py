"""Plain-text output for a terminal. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from maintenance.database.queries import Change, RevisionRow, WorkerStatus
from storage.clock import iso, minute
from storage.jobs.tasks import TaskView
from storage.limits.quota_grants import GrantStatus
from vlrb.common.messages import Message, _, joined, ngettext
from vlrb.disclosure import measured_sentence

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.account_search import Directory
    from maintenance.actions.approvals import PendingApproval
    from maintenance.actions.entry_search import EntryMatches
    from maintenance.actions.operations import Health
    from maintenance.actions.reported import ImportResult, ReportedResultView

_GIB = 2**30
_LABELS_FLIP, _ITEMS_GO, _ITEMS_COME = _("{count} labels flip"), _("{count} pairs go"), _("{count} pairs come")


def history(changes: Sequence[Change]) -> str:
    """Return one line a changed field."""
    lines: list[str] = []
    for change in changes:
        lines.append(_("{at} by {editor}", at=iso(change.at), editor=change.editor))
        lines += [
            f"  {name}: {json.dumps(old)} -> {json.dumps(change.after[name])}" for name, old in change.before.items()
        ]
    return joined(lines, "\n") or _("Nothing was ever changed.")


def revisions(result: Sequence[RevisionRow]) -> str:
    """Return one line a revision, with its difference below."""
    lines = []
    for row in result:
        kind = revision_kind(row) + (f", {row.disclosure}" if row.disclosure and row.retired_at is None else "")
        by = _("by {requested_by}, {at}", requested_by=row.requested_by or _("the settings"), at=iso(row.came_at))
        by += f": {row.reason}" if row.reason else ""
        count = ngettext("{n:,} label", "{n:,} labels", row.items)
        lines.append(_("{revision}: {count}, {kind}, {by}", revision=row.revision, count=count, kind=kind, by=by))
        if row.difference:
            lines.append(
                _(
                    "  against {difference}: {label_difference}",
                    difference=row.difference.get("against"),
                    label_difference=label_difference(row.difference),
                )
            )
        if row.commitment:
            lines.append(
                _("  commitment {commitment}", commitment=row.commitment)
                + (_(", salt {salt}", salt=row.salt) if row.salt else "")
            )
    return joined(lines, "\n") or _("There are no label revisions yet: start a worker.")


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
        return _("{added} added, {dropped} dropped, too few to show how many flipped", added=added, dropped=dropped)
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
    for test in result["significance"]:
        pair = " - ".join(names.get(test[side], test[side]) for side in ("first", "second"))
        lines.append(f"p {test['p'][0]:.3f} -> {test['p'][1]:.3f}  {pair}")
    return joined(lines, "\n")


def counterfactual(result: Mapping[str, Any]) -> str:
    """Return what happens to the ranks if the labels change so: one sentence; empty where no label changes.

    Of a draft of few pairs, which tells no number, it says the same whether one changes or none does.
    """
    changes = result["labels"]
    verbs = (
        ("flipped", _("1 label flips"), _LABELS_FLIP),
        ("dropped", _("1 pair goes"), _ITEMS_GO),
        ("added", _("1 pair comes"), _ITEMS_COME),
    )
    parts = [
        singular if changes[name] == 1 else Message(plural, {"count": changes[name]})
        for name, singular, plural in verbs
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
    before, after = ("-" if place is None else str(place) for place in rank)
    return f"{before:>5} -> {after:<5}"


def _points(shares: Sequence[float | None]) -> str:
    before, after = ("    -" if share is None else f"{100 * share:5.2f}" for share in shares)
    return f"{before} -> {after}"


def progress(task: TaskView) -> str:
    """Return how far a task is."""
    state = (
        _("task {id} waits for a worker", id=task.id)
        if task.state == "queued"
        else _("task {id} is {state}", id=task.id, state=_(task.state))
    )
    return state + (
        _(", {progress} of {total} entries", progress=task.progress, total=task.total) if task.total else ""
    )


def task(view: TaskView) -> str:
    """Return one line."""
    line = _(
        "task {id}: {kind} {subject}: {state}.", id=view.id, kind=view.kind, subject=view.subject, state=_(view.state)
    )
    return joined((line, _(view.outcome)), " ") if view.outcome else line


def backup(result: Health) -> str:
    """Return the newest copy of the database, and whether the last attempt failed."""
    succeeded, failed = result.backup, result.backup_failed
    words: str = _("none yet")
    if succeeded is not None:
        words = f"{minute(succeeded.started_at)}, {succeeded.name}, {_size(succeeded.size_bytes or 0)}"
    return words + (
        _("; failed {at}: {error}", at=minute(failed.started_at), error=failed.error) if failed is not None else ""
    )


def _size(number: int) -> str:
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.0f} KiB"


def reported_import(import_result: ImportResult) -> str:
    """Return what an import has done, what arithmetic says about each new row, and which names look like an entry's."""
    return joined([import_result.message, *map(_reported, import_result.new), *import_result.alike], "\n")


def reported_results(results: Sequence[ReportedResultView]) -> str:
    """Return one line a result."""
    return joined(map(_reported, results), "\n") or _("Nothing was imported yet.")


def _reported(result: ReportedResultView) -> str:
    numbers = " ".join(f"{name} {value:g}" for name, value in result.figures.items() if value is not None)
    removed = _("  REMOVED: {removed}", removed=result.removed) if result.removed else ""
    line = _(
        "{id}  {name}  {numbers}  ({check})  {url}",
        id=result.id,
        name=result.name,
        numbers=numbers,
        check=_(result.check),
        url=result.url,
    )
    return line + removed


def quota_grants(grants: Sequence[GrantStatus]) -> str:
    """Return one line a grant."""
    lines = [
        _(
            "{id}: {account}, {used} of {extra} used{ended}: {reason} ({at} by {granted_by})",
            id=grant.id,
            account=grant.account,
            used=grant.used,
            extra=grant.extra,
            ended=_(", ended") if grant.revoked_at is not None else "",
            reason=grant.reason,
            at=iso(grant.granted_at),
            granted_by=grant.granted_by,
        )
        for grant in grants
    ]
    return joined(lines, "\n") or _("Nothing was granted yet.")


def entries_found(entry_matches: EntryMatches) -> str:
    """Return one line an entry."""
    lines = [
        f"{entry.id}  {entry.model} {entry.version}".rstrip()
        + _(
            "  by {owner_name} ({owner}), {at}: {standing}",
            owner_name=entry.owner_name or entry.owner,
            owner=entry.owner,
            at=iso(entry.submitted_at),
            standing=_(entry.standing),
        )
        for entry in entry_matches.entries
    ]
    return joined(lines + _more(entry_matches.number - len(lines)), "\n") or _("No such entry.")


def _more(number: int) -> list[str]:
    return [_("and {number:,} more: search for part of a name or id", number=number)] if number > 0 else []


def accounts(directory: Directory) -> str:
    """Return one line an account."""
    lines = [
        _(
            "{id}  {name}  {role}, {banned}{count}, first seen {first}, last {last}",
            id=account.id,
            name=account.name,
            role=account.role or _("role not known here"),
            banned="" if account.banned_at is None else _("BANNED, "),
            count=ngettext("{n:,} submission", "{n:,} submissions", account.submissions),
            first=iso(account.first_seen_at),
            last=iso(account.last_seen_at),
        )
        for account in directory.accounts
    ]
    return joined(lines + _more(directory.number - len(lines)), "\n") or directory.nobody


def installation(benchmark: str, data: Sequence[str]) -> str:
    """Return which one the settings of this shell name."""
    return _("benchmark: {benchmark}, data in {names}", benchmark=benchmark, names=", ".join(data))


def last_sign(worker_status: WorkerStatus) -> str:
    """Return when a worker was last seen, or since when it is missed."""
    if worker_status.silent_since is not None:
        return _("silent since {at}", at=minute(worker_status.silent_since))
    return _("last seen {seconds} s ago", seconds=f"{worker_status.seconds_ago:.0f}")


def health(result: Health) -> str:
    """Return a page of it."""
    lines: list[str] = [
        _(
            "board: label revision {label_revision}, scorer version {scorer_version}",
            label_revision=result.label_revision,
            scorer_version=result.scorer_version,
        ),
        _("submissions: paused ({reason})", reason=result.paused) if result.paused else _("submissions: open"),
        _("jobs: {counts}", counts=_counts(result.jobs)),
        _("tasks: {counts}", counts=_counts(result.tasks)),
    ]
    lines.append(_("last backup: {backup}", backup=backup(result)))
    if result.waiting_seconds is not None:
        lines.append(_("the oldest job has waited for {waiting_seconds:.0f} s", waiting_seconds=result.waiting_seconds))
    lines += [
        _("worker {name}: {last_sign}", name=worker.name, last_sign=last_sign(worker)) for worker in result.workers
    ] or [_("no worker")]
    lines += [
        _(
            "job {job_id} failed: {model} ({submission_id}) under {label_revision}: {reason}",
            job_id=failure.job_id,
            model=failure.model,
            submission_id=failure.submission_id,
            label_revision=failure.label_revision,
            reason=_(failure.reason),
        )
        for failure in result.failures
    ]
    lines += [task(failed_task) for failed_task in result.failed_tasks]
    lines += [
        _(
            "disk of {path}: {free:.1f} of {total:.1f} GiB free",
            path=disk.path,
            free=disk.free / _GIB,
            total=disk.total / _GIB,
        )
        for disk in result.disks
    ]
    lines += [_("ALARM: {sentence}", sentence=_(alarm.sentence)) for alarm in result.alarms]
    checked = result.integrity_checked_at
    lines.append(
        _("stored rows compared with the audit chain: {state}", state=_("not yet") if checked is None else iso(checked))
    )
    lines += hidden_labels(result)
    lines.append(_("approvals: {approvals} waiting", approvals=result.approvals) + waiting_of_each(result))
    lines.append(_("audit chain: {chain_seq} events", chain_seq=result.chain_seq))
    return joined([*lines, _("commit: {commit}", commit=result.commit)], "\n")


def hidden_labels(result: Health) -> list[str]:
    """Return what the scores under each set of labels that is not public give away."""
    return [
        _("hidden labels {revision}: {sentence}", revision=revision, sentence=measured_sentence(measured))
        for revision, measured in result.measured.items()
        if measured
    ]


def waiting_of_each(result: Health) -> str:
    """Return how many approvals wait for each benchmark, in brackets; nothing where none waits."""
    numbers = ", ".join(f"{benchmark} {number:,}" for benchmark, number in result.approvals_by_benchmark.items())
    return f" ({numbers})" if numbers else ""


def _counts(by_state: Mapping[str, int]) -> str:
    return joined(f"{number} " + _(state) for state, number in by_state.items())


def approvals(waiting: Sequence[PendingApproval]) -> str:
    """Return one line a submission."""
    lines = [
        f"{approval.submission}  {approval.submitted_at}  {approval.model} {approval.version}".rstrip()
        + _(
            "  by {name} ({account}, {account_age_days} days old): ",
            name=approval.name,
            account=approval.account,
            account_age_days=approval.account_age_days,
        )
        + joined([text for text in (approval.file, approval.why) if text], _("; "))
        for approval in waiting
    ]
    return joined(lines, "\n") or _("Nothing waits for this benchmark. `health` has the number of each.")
