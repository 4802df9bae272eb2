"""Content of the maintain page: what each table and line shows. `templates/` has the HTML, which escapes every text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from maintenance import preview_rows, text_output
from maintenance.actions.account_search import Directory
from maintenance.actions.approvals import PendingApproval
from maintenance.actions.entry_search import EntryMatches
from maintenance.actions.operations import Health
from maintenance.actions.reported import ImportResult, ReportedResultView
from maintenance.database.entry_queries import EntryRow
from maintenance.database.queries import Change, RevisionRow
from maintenance.decision_log import Decision
from maintenance.page.row_actions import RowActions, RowKey
from maintenance.reported_file import ReportedFileRejected
from maintenance.types import ActionResult, Entry
from storage.clock import minute
from storage.jobs.tasks import TaskView
from storage.limits.quota_grants import GrantStatus
from storage.metadata import label
from vlrb.common.messages import _, joined, ngettext
from vlrb.common.rounding import one_decimal, percent
from vlrb.common.template_translations import translate_templates
from vlrb.common.translations import ENGLISH, Translations, translations
from vlrb.disclosure import PUBLIC

NOTHING = "\u2013"
"""Placeholder for an absent value, as on the public pages."""
_GIB = 2**30
_DIGITS = 12  # of a commitment, as far as it is shown
_MOST = 200  # rows of a preview; ten thousand would be eighty thousand cells
_LANGUAGE: ContextVar[str] = ContextVar("maintain_language", default=ENGLISH)


@contextmanager
def speaking(of: Translations) -> Iterator[None]:
    """Write what follows in a language."""
    token = _LANGUAGE.set(of.language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


class _Right(str):
    """A number as text, aligned right in its column."""

    __slots__ = ()


def lead() -> str:
    """Return the beginning of the page."""
    return _part("lead")


def chain_hint() -> str:
    """Return what the audit chain alone does not show."""
    return _part("chain_hint")


def outcome(done: ActionResult) -> str:
    """Return what a button did."""
    return _outcome_part(done.message, "good" if done.changed else "busy")


def refusal(message: str) -> str:
    """Return why a button did nothing."""
    return _outcome_part(message, "bad")


def heading(text: str) -> str:
    """Return a heading of a part of a tab."""
    return _part("heading", text)


def hint(text: str) -> str:
    """Return a line of explanation; "" for none."""
    return _part("hint", text) if text else ""


def paragraph(text: str) -> str:
    """Return a paragraph; "" for none."""
    return _part("paragraph", text) if text else ""


def _outcome_part(message: str, kind: str) -> str:
    return _part("outcome", message, kind)


def outcomes(done: Sequence[tuple[str, str]]) -> str:
    """Return what an action has done, row by row: sentences with their kinds; the same one once."""
    by_kind: dict[str, list[str]] = {}
    for message, kind in dict.fromkeys(done):
        by_kind.setdefault(kind, []).append(message)
    return "".join(_part("outcomes", messages, kind) for kind, messages in by_kind.items())


def dialogs(rows: RowActions, shows: str) -> str:
    """Return the dialogs of a table's actions, which a script opens. `shows`: the button that shows more of a row."""
    return _part("dialogs", rows, rows.dialogs(), shows)


def suggestions(name: str, known: Iterable[tuple[str, str]]) -> str:
    """Return a list of values with names, for a field of a dialog. `name`: of the list."""
    return _part("suggestions", name, list(dict.fromkeys(known)))


@cache
def _templates(language: str) -> Environment:
    """Return the templates in a language. Read once: they are part of the program."""
    folder = Path(__file__).with_name("templates")
    environment = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    environment.globals["NOTHING"] = NOTHING
    translate_templates(environment, translations(language))
    return environment


def _part(name: str, *values: Any) -> str:
    """Return a part of the page: a macro of templates/parts.html with its values."""
    return str(getattr(_templates(_LANGUAGE.get()).get_template("parts.html").module, name)(*values))


def task(view: TaskView) -> str:
    """Return how far a worker is."""
    if view.ended:
        return _outcome_part(text_output.task(view), "good" if view.state == "done" else "bad")
    return _part("progress", text_output.progress(view), view.progress, view.total)


def health(
    result: Health, jobs_rows: RowActions | None = None, *, tasks_rows: RowActions | None = None
) -> tuple[str, str, str]:
    """Return facts with workers, failed jobs, failed tasks."""
    counted = [f"{number} " + _(state) for state, number in result.jobs.items() if number]
    jobs = joined(counted) if counted else _("none")
    values = {"label_revision": result.label_revision, "scorer_version": result.scorer_version}
    facts = [
        (_("Submissions"), _("paused: {message}", message=result.paused) if result.paused else _("open")),
        (_("The board shows"), text_output.board_words(values)),
        (_("Jobs"), jobs),
        (_("Longest wait"), NOTHING if result.waiting_seconds is None else f"{result.waiting_seconds:.0f} s"),
        *(
            (_("Disk of {path}", path=disk.path), _disk_words(disk.free / _GIB, disk.total / _GIB))
            for disk in result.disks
        ),
        (_("Approvals"), _("{count} waiting", count=f"{result.approvals:,}") + text_output.waiting_of_each(result)),
        (_("Last backup"), text_output.backup(result)),
        (_("Audit chain"), _("{count} events", count=f"{result.chain_seq:,}")),
        *((_("Labels"), line) for line in text_output.hidden_labels(result)),
    ]
    workers = [(worker.name, minute(worker.started_at), text_output.last_sign(worker)) for worker in result.workers]
    failed = [
        (
            RowKey(str(failure.job_id), f"{failure.model}, {failure.label_revision}"),
            failure.job_id,
            failure.submission_id,
            failure.model,
            failure.label_revision,
            failure.reason,
        )
        for failure in result.failures
    ]
    tasks = [
        (
            RowKey(str(failed_task.id), f"{failed_task.kind} {failed_task.subject}"),
            failed_task.id,
            failed_task.kind,
            failed_task.subject,
            failed_task.outcome,
        )
        for failed_task in result.failed_tasks
    ]
    state = (
        "".join(refusal(alarm.sentence) for alarm in result.alarms)
        + _facts(facts)
        + table(
            _("Workers"),
            (_("Worker"), _("Started"), _("Last heartbeat")),
            rows=workers,
            nothing=_("No worker is running."),
        )
    )
    head = (_("Job"), _("Entry"), _("Model"), _("Labels"), _("Reason"))
    return (
        state,
        table(_("Failed jobs"), head, rows=failed, nothing=_("No job has failed."), actions=jobs_rows),
        table(
            _("Failed tasks"),
            (_("Task"), _("What"), _("Revision"), _("Reason")),
            rows=tasks,
            nothing="",
            actions=tasks_rows,
        )
        if tasks
        else "",
    )


def _disk_words(free: float, total: float) -> str:
    return _("{free} of {total} GiB free", free=f"{free:.1f}", total=f"{total:.1f}")


def entries_found(entry_matches: EntryMatches, actions: RowActions | None = None, *, shows: str = "") -> str:
    """Return entries that were searched for."""
    rows = [
        (
            RowKey(row.id, f"{row.model} {row.version}".strip() + f" ({row.id})", without=_impossible(row)),
            PageLink(f"{row.model} {row.version}".strip(), f"/entries/{row.id}"),
            row.id,
            row.owner_name or row.owner,
            minute(row.submitted_at),
            row.standing,
        )
        for row in entry_matches.entries
    ]
    head = (_("Judge"), _("Id"), _("Owner"), _("Submitted"), _("State"))
    listing = table(_("Entries"), head, rows=rows, nothing=_("No such entry."), actions=actions, shows=shows)
    if actions is None:
        return listing + _more(entry_matches.number - len(rows))
    owners = [(row.owner, row.owner_name or row.owner) for row in entry_matches.entries]
    known = suggestions(f"{actions.table}-into", [(row[0].key, row[0].name) for row in rows])
    return listing + known + suggestions(f"{actions.table}-to", owners) + _more(entry_matches.number - len(rows))


def _impossible(entry: EntryRow) -> tuple[str, ...]:
    """Return the decisions that would change nothing about an entry."""
    off = entry.standing in ("is hidden", "is withdrawn") or entry.standing.startswith("was merged")
    without = {
        "entries.hide": entry.standing == "is hidden",
        "entries.withdraw": entry.standing == "is withdrawn",
        "entries.restore": not off,
        "entries.verify": entry.verified,
        "entries.unverify": not entry.verified,
        "entries.unflag": not entry.noted,
    }
    return tuple(name for name, useless in without.items() if useless)


def accounts(directory: Directory, actions: RowActions | None = None) -> str:
    """Return the accounts that have signed in."""
    rows = [
        (
            RowKey(
                account.id,
                f"{account.name} ({account.id})",
                without=("accounts.unban",) if account.banned_at is None else ("accounts.ban",),
            ),
            account.name,
            account.id,
            account.role,
            account.submissions,
            minute(account.first_seen_at),
            minute(account.last_seen_at),
            _("since {at}", at=minute(account.banned_at)) if account.banned_at is not None else _("no"),
        )
        for account in directory.accounts
    ]
    head = (_("Name"), _("Account"), _("Role"), _("Submissions"), _("First seen"), _("Last seen"), _("Banned"))
    return table(_("Accounts"), head, rows=rows, nothing=directory.nobody, actions=actions) + _more(
        directory.number - len(rows)
    )


def person(account: str, names: Mapping[str, str]) -> str:
    """Return an account as people call it; its id where it has no name here."""
    return names.get(account, account)


def _more(number: int) -> str:
    return hint(_("and {number:,} more: search for part of a name or id", number=number) if number > 0 else "")


def tasks(
    result: Sequence[TaskView], names: Mapping[str, str], *, actions: RowActions | None = None, shows: str = ""
) -> str:
    """Return what workers were asked lately. `names`: of accounts."""
    rows = [
        (
            RowKey(
                str(view.id), f"{view.kind} {view.subject}", without=() if view.state == "failed" else ("tasks.retry",)
            ),
            view.id,
            view.kind,
            view.subject,
            view.state,
            view.outcome or NOTHING,
            minute(view.created_at),
            person(view.requested_by, names),
        )
        for view in result
    ]
    head = (_("Task"), _("What"), _("About"), _("State"), _("Result"), _("Asked"), _("By"))
    return table(_("Recent tasks"), head, rows=rows, nothing=_("Nothing was asked yet."), actions=actions, shows=shows)


def entry(
    result: Entry, standing: str, *, metadata: Mapping[str, Any], history: Sequence[Change], names: Mapping[str, str]
) -> str:
    """Return an entry, what holds for it, and how its description changed. `names`: of accounts."""
    facts = [
        (_("State"), f"The entry {standing}."),
        (_("Reason shown"), result.withdrawn_reason or NOTHING),
        (_("Verified"), minute(result.verified_at) if result.verified_at is not None else "no"),
        (_("Public note"), result.flag or NOTHING),
        (_("Owner"), f"{names[result.owner]} ({result.owner})" if result.owner in names else result.owner),
        *((label(name), _field_text(value)) for name, value in metadata.items() if value not in (None, "")),
    ]
    changes = [
        (
            minute(change.at),
            person(change.editor, names),
            label(name),
            _field_text(old),
            _field_text(change.after[name]),
        )
        for change in history
        for name, old in change.before.items()
    ]
    return _facts(facts) + table(
        _("Changes"), (_("At"), _("By"), _("Field"), _("Was"), _("Became")), rows=changes, nothing=_("Never edited.")
    )


def _field_text(value: object) -> str:
    """Return the text of a field of an entry's description."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def revisions(
    result: Sequence[RevisionRow], names: Mapping[str, str], *, actions: RowActions | None = None, current: str = ""
) -> str:
    """Return all label revisions. `names`: of accounts; `current`: the one that the board shows."""
    rows = []
    for row in result:
        changed = text_output.label_difference(row.difference) if row.difference else ""
        against = f"{row.difference.get('against')}: {changed}" if row.difference else NOTHING
        known_by = Short(row.commitment[:_DIGITS], row.commitment) if row.commitment else NOTHING
        salt = Short(row.salt[:_DIGITS], row.salt) if row.salt else NOTHING
        disclosure = NOTHING if row.retired_at is not None else row.disclosure or _("as configured")
        by = person(row.requested_by, names) if row.requested_by else "settings"
        at = minute(row.came_at)
        facts = (
            row.revision,
            _Right(f"{row.items:,}"),
            text_output.revision_kind(row),
            disclosure,
            against,
            row.reason or NOTHING,
            by,
            at,
        )
        key = (
            (RowKey(row.revision, row.revision, without=_impossible_revision(row, current)),)
            if actions is not None
            else ()
        )
        rows.append((*key, *facts, known_by, salt))
    head = (
        _("Revision"),
        _("Labels"),
        _("Kind"),
        _("Disclosure"),
        _("Against"),
        _("Why"),
        _("By"),
        _("At"),
        _("Commitment"),
        _("Salt"),
    )
    return table(_("Revisions"), head, rows=rows, nothing=_("None yet: start a worker."), actions=actions)


def _impossible_revision(row: RevisionRow, current: str) -> tuple[str, ...]:
    """Return the actions that are refused for a revision in its state."""
    imported, retired = row.imported_at is not None, row.retired_at is not None
    scored = row.published_at is not None or row.registered_at is not None
    without = {
        "rescore.preview": retired,
        "rescore.apply": retired,
        "rescore.undo": row.revision != current,
        "labels.retire": not imported or retired or row.revision == current,
        "labels.disclose": not imported or retired or row.disclosure == PUBLIC,
        "labels.discard": not imported or retired or scored,
    }
    return tuple(name for name, refused in without.items() if refused)


def preview(result: Mapping[str, Any], task: int) -> str:
    """Return what applying would change, those entries first that move furthest. `task` is the preview's number."""
    entries, pairs = preview_rows.by_move(result["entries"], result["columns"]), result.get("pairs") or ()
    sentences = [text_output.counterfactual(result), (result.get("disclosure") or {}).get("readers")]
    context = {"sentences": sentences, "summary": text_output.preview_summary(result), "most": _MOST}
    context |= {"entries": len(entries), "pairs": len(pairs), "shows_pairs": "pairs" in result, "task": task}
    page = _templates(_LANGUAGE.get()).get_template("preview.html").render(**context)
    columns = (_("Judge"), _("Rank"), _("Rank range"), *(name.capitalize() for name in result["columns"]))
    rows = [_preview_row(row, result["columns"]) for row in entries[:_MOST]]
    tables = [page, table(_("Entries"), columns, rows=rows, nothing=_("None."))]
    if pairs:
        head = (_("Pair"), _("Category"), _("Change"), _("Before"), _("After"))
        tables.append(
            table(_("Labels that change"), head, rows=[_pair_row(pair) for pair in pairs[:_MOST]], nothing="")
        )
    return "".join([*tables, _significance(result)])


def _preview_row(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[object, ...]:
    name = PageLink(f"{row['model']} {row['version']}".strip(), f"/entries/{row['id']}")
    sides = ["-".join(map(str, dict.fromkeys(side))) if side else NOTHING for side in preview_rows.ranges(row)]
    range_words = NOTHING if sides == [NOTHING, NOTHING] else " → ".join(dict.fromkeys(sides))
    return (name, _Right(_rank_words(row)), _Right(range_words), *(_points(row[column]) for column in columns))


def _rank_words(row: Mapping[str, Any]) -> str:
    """Return both ranks and the move; one rank where it stays."""
    before, after = (NOTHING if rank is None else str(rank) for rank in row["rank"])
    gained = preview_rows.move(row)
    if before == after:
        return before
    return f"{before} → {after}" + (f" ({'▲' if gained > 0 else '▼'}{abs(gained)})" if gained else "")


_CHANGES = {"flipped": _("inverted"), "added": _("added"), "dropped": _("dropped"), "tags": _("other error tags")}


def _pair_row(pair: Mapping[str, Any]) -> tuple[object, ...]:
    sides = [(pair[f"tags_{side}"] if pair["change"] == "tags" else [pair[side]]) for side in ("before", "after")]
    words = (", ".join(side) or NOTHING for side in sides)
    return (PageLink(pair["pair"], f"/explore/{quote(pair['pair'], safe='')}"), pair["category"],
            _known(_CHANGES[pair["change"]]), *words)  # fmt: skip


def _known(text: str) -> str:
    """Return a word of a declaration in the language that is written."""
    return translations(_LANGUAGE.get()).known(text)


def _significance(result: Mapping[str, Any]) -> str:
    """Return the neighbours between which significance comes or goes."""
    names = {row["id"]: f"{row['model']} {row['version']}".strip() for row in result["entries"]}
    rows = [
        (
            *(PageLink(names.get(test[side], test[side]), f"/entries/{test[side]}") for side in ("first", "second")),
            *(_Right(f"{p:.3f}") for p in test["p"]),
        )
        for test in result["significance"][:_MOST]
    ]
    head = (_("Better before"), _("Than"), "p", _("Then"))
    return table(_("Significance that changes"), head, rows=rows, nothing=_("None between neighbours."))


def reported_results(results: Sequence[ReportedResultView], actions: RowActions | None = None) -> str:
    """Return all imported results."""
    rows = [
        (
            *(
                (RowKey(result.id, f"{result.name} ({result.id})", without=_impossible_result(result)),)
                if actions
                else ()
            ),
            result.name,
            result.id,
            *_figures(result),
            result.check,
            _origin(result),
            result.removed or _("on the board"),
        )
        for result in results
    ]
    head = (_("Judge"), _("Id"), *_figure_titles(results), _("Arithmetic"), _("Source"), _("State"))
    return table(_("Imported results"), head, rows=rows, nothing=_("Nothing was imported yet."), actions=actions)


def _impossible_result(result: ReportedResultView) -> tuple[str, ...]:
    return ("reported.restore",) if result.removed is None else ("reported.remove",)


def reported_import(import_result: ImportResult) -> str:
    """Return what an import has done, or would do."""
    rows = [(result.name, *_figures(result), result.check, _origin(result)) for result in import_result.new]
    head = (_("Judge"), *_figure_titles(import_result.new), _("Arithmetic"), _("Source"))
    message = _outcome_part(import_result.message, "good" if import_result.changed else "busy") + "".join(
        _outcome_part(sentence, "bad") for sentence in import_result.alike
    )
    return message + (table(_("New rows"), head, rows=rows, nothing="") if rows else "")


def file_problems(rejected: ReportedFileRejected) -> str:
    """Return everything that is wrong with a file."""
    rows = [(problem.line, problem.field or NOTHING, problem.message) for problem in rejected.problems]
    message = _(
        "Nothing was imported: {count}.", count=ngettext("{n:,} problem", "{n:,} problems", rejected.problem_count)
    )
    return refusal(message) + table(_("Problems"), (_("Line"), _("Field"), _("What to do")), rows=rows, nothing="")


def _origin(reported_result: ReportedResultView) -> Away | str:
    return (
        Away(reported_result.source, reported_result.url)
        if reported_result.url.startswith(("https://", "http://"))
        else reported_result.source
    )


def _figure_titles(results: Sequence[ReportedResultView]) -> tuple[str, ...]:
    return tuple(name.capitalize() for result in results[:1] for name in result.figures)


def _figures(result: ReportedResultView) -> tuple[_Right, ...]:
    return tuple(_Right(NOTHING if value is None else one_decimal(value)) for value in result.figures.values())


def approvals(pending_approvals: Sequence[PendingApproval], actions: RowActions | None = None) -> str:
    """Return what waits."""
    rows = [
        (
            RowKey(
                pending_approval.submission,
                f"{pending_approval.model} {pending_approval.version}".strip() + f" ({pending_approval.name})",
            ),
            pending_approval.submission,
            f"{pending_approval.model} {pending_approval.version}".strip(),
            f"{pending_approval.name} ({pending_approval.account})",
            ", ".join(pending_approval.organisations) or NOTHING,
            pending_approval.account_age_days,
            minute(pending_approval.submitted_at),
            pending_approval.file,
            pending_approval.why or NOTHING,
        )
        for pending_approval in pending_approvals
    ]
    head = (
        _("Submission"),
        _("Judge"),
        _("Account"),
        _("Organisations"),
        _("Days old"),
        _("Submitted"),
        _("File"),
        _("Why it waits"),
    )
    return table(_("Waiting"), head, rows=rows, nothing=_("Nothing waits."), actions=actions)


def grants(
    grant_statuses: Sequence[GrantStatus], names: Mapping[str, str], *, actions: RowActions | None = None
) -> str:
    """Return submissions that were allowed beyond quotas. `names`: of accounts."""
    rows = [
        (
            RowKey(
                str(grant_status.id),
                f"{person(grant_status.account, names)}: {grant_status.extra}",
                without=("quota.revoke",) if grant_status.revoked_at is not None else (),
            ),
            grant_status.id,
            person(grant_status.account, names),
            grant_status.extra,
            grant_status.used,
            "ended" if grant_status.revoked_at is not None else f"{grant_status.left} left",
            grant_status.reason,
            person(grant_status.granted_by, names),
            minute(grant_status.granted_at),
        )
        for grant_status in grant_statuses
    ]
    head = (_("Grant"), _("Account"), _("Granted"), _("Used"), _("State"), _("Why"), _("By"), _("At"))
    return table(_("Granted submissions"), head, rows=rows, nothing=_("Nothing was granted yet."), actions=actions)


def _points(shares: Sequence[float | None]) -> _Right:
    before, after = shares
    if before is None or after is None:
        return _Right(NOTHING)
    change = round(100 * (after - before), 2)
    message = f"{change:+.2f}".replace("-", "\u2212") if change else "±0.00"  # the minus of the public pages
    return _Right(f"{percent(before)} → {percent(after)} ({message})")


def decisions(result: Sequence[Decision]) -> str:
    """Return the public log."""
    return table(
        _("Public log"),
        (_("At"), _("Decision")),
        rows=[(minute(decision.at), decision.sentence) for decision in result],
        nothing=_("Nothing yet."),
    )


def table(
    title: str,
    head: Sequence[str],
    *,
    rows: Iterable[Sequence[object]],
    nothing: str,
    actions: RowActions | None = None,
    shows: str = "",
) -> str:
    """Return a table with a heading, or the sentence that there is nothing.

    A row may begin with its RowKey. `actions`: then it ends with buttons. `shows`: the button that shows more of a row.
    """
    listed = [tuple(row) for row in rows]
    keys = [row[0] if row and isinstance(row[0], RowKey) else None for row in listed]
    listed = [row[1:] if key is not None else row for key, row in zip(keys, listed, strict=True)]
    numbers = [any(isinstance(row[place], int | _Right) for row in listed) for place in range(len(head))]
    columns = [_Column(name, number) for name, number in zip(head, numbers, strict=True)]
    cells = [
        (key, [(column, _cell(value)) for column, value in zip(columns, row, strict=True)])
        for key, row in zip(keys, listed, strict=True)
    ]
    return _part("table", title, columns, cells, nothing, actions, shows)


class _Column(NamedTuple):
    name: str
    number: bool  # aligned right


class PageLink(NamedTuple):
    """A cell that leads somewhere on this site."""

    words: str
    path: str

    @property
    def kind(self) -> str:
        """Return how the template shows it."""
        return "page"

    @property
    def text(self) -> str:
        """Return what is read of it."""
        return self.words


class Away(NamedTuple):
    """A cell that leads to another site, at an http address."""

    words: str
    address: str

    @property
    def kind(self) -> str:
        """Return how the template shows it."""
        return "away"

    @property
    def text(self) -> str:
        """Return what is read of it."""
        return self.words


class Short(NamedTuple):
    """A cell that shows the beginning of something long; the rest comes up under the pointer."""

    start: str
    whole: str

    @property
    def kind(self) -> str:
        """Return how the template shows it."""
        return "short"

    @property
    def text(self) -> str:
        """Return what is read of it."""
        return self.start


class _Text(NamedTuple):
    text: str

    @property
    def kind(self) -> str:
        return "text"


def _cell(value: object) -> PageLink | Away | Short | _Text:
    if isinstance(value, PageLink | Away | Short):
        return value
    return _Text(NOTHING if value is None else value if isinstance(value, str) else str(value))


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    return _part("facts", list(rows))
