"""Use cases about results reported in papers, shipped or imported: import in bulk, edit, remove, undo.

All or nothing, with an audit event.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from common.refused import FieldProblem
from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.reported_file import (
    Read,
    ReportedFileRejected,
    arithmetic,
    fields,
    read,
    read_row,
    repeated,
)
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, file_text, plural
from maintenance.view import NOTHING, Row, Table, TableCell, View
from storage import confusables, reported_results
from storage.clock import iso, read_clock
from storage.database import Session
from storage.integrity import audit
from storage.reported_results import normalized_name, same_numbers
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.rounding import one_decimal

IMPORTED, EDITED = "reported.imported", "reported.edited"
REMOVED, UNDONE = "reported.removed", "reported.undone"
_OF_A_DECISION = ("result", "name", "fields", "before", "after", "reason")

FileText = Annotated[str, ParamInfo("CSV file", metavar="FILE", is_file=True, read=file_text)]
ImportReason = Annotated[
    str,
    ParamInfo(
        "Reason", "where these results come from", option="--reason", help="goes on record; needed without --dry-run"
    ),
]
DryRun = Annotated[bool, ParamInfo("Only check", option="--dry-run", help="only say what would happen")]
ResultId = Annotated[str, ParamInfo("Result", "its id: r-...")]
ChangeReason = Annotated[str, ParamInfo("Reason for the change", "a slip in the table", option="--reason")]
ResultChanges = Annotated[
    dict[str, Any], ParamInfo("Field", metavar="FIELD=VALUE", help="an empty value clears the field")
]


@dataclass(frozen=True, slots=True)
class ReportedResultView:
    """A reported result as maintainers see it. `check`: what arithmetic says about it."""

    id: str
    name: str
    source: str
    url: str
    figures: dict[str, float | None]
    check: str
    removed: str | None  # why, where it is not on the board


@dataclass(frozen=True, slots=True)
class ImportResult:
    """Result of an import, or of its dry run: rows that are new, and ids of those that were there already."""

    changed: bool
    message: str
    new: tuple[ReportedResultView, ...]
    known: tuple[str, ...]
    seq: int | None = None


def _imported(result: ImportResult) -> View:
    return View([result.message], tables=[_table("New rows", result.new)] if result.new else [])


def _table(title: str, results: Sequence[ReportedResultView], *, nothing: str = "") -> Table:
    figures = [name.capitalize() for result in results[:1] for name in result.figures]
    head = ("Judge", "Id", *figures, "Arithmetic", "Source", "State")
    return Table(title, head, [_row(result) for result in results], nothing, parameter="result")


def _row(result: ReportedResultView) -> Row:
    figures = [NOTHING if value is None else one_decimal(value) for value in result.figures.values()]
    source = TableCell(result.source, link=result.url if result.url.startswith("http") else "")
    cells: list[TableCell | str] = [result.name, result.id, *(TableCell(figure, number=True) for figure in figures)]
    cells += [result.check, source, result.removed or "on the board"]
    without = () if result.removed is None else ("reported.remove",)
    return Row(cells, key=result.id, name=f"{result.name} ({result.id})", without=without)


@action(
    "reported.import",
    "POST /api/v1/maintenance/reported",
    audit=IMPORTED,
    title="Reported results imported",
    public="Results reported elsewhere were imported ({count}): {reason}",
    button="Import",
    view=_imported,
)
def import_file(
    ctx: ActionContext, content: FileText, *, reason: ImportReason = "", dry_run: DryRun = False
) -> ImportResult:
    """Put all rows of a file on the board as reported, or none. For maintainers.

    Rows that are there already, with the same numbers, are left alone. Raises FileRejected with every problem.
    """
    why = "dry run" if dry_run else clean_reason(reason)
    data, spec = content.encode("utf-8", "surrogateescape"), ctx.items.table.spec
    rows, problems = read(data, spec)
    with ctx.database.write() as session:
        confusables.lock_names(session)
        audit.acquire_chain_lock(session)
        new, known = _compare(rows, _all(ctx, session), spec=spec, wrong=problems)
        number = plural(len(new), "row")
        outcome = "Nothing is new" if not new else f"{number} can be imported" if dry_run else f"{number} imported"
        there = f"; {plural(len(known), 'row')} on the board already." if known else "."
        found = tuple(_result(row.facts, spec) for row in new)
        if dry_run or not new:
            return ImportResult(False, outcome + there, new=found, known=tuple(known))
        reported_results.add(session, ctx.benchmark, rows=[row.facts for row in new])
        facts = {"count": len(new), "ids": [row.facts["id"] for row in new], "sha256": hashlib.sha256(data).hexdigest()}
        seq = audit.append(session, IMPORTED, data={**facts, "reason": why, **ctx.author, "benchmark": ctx.benchmark})
    return ImportResult(True, outcome + there, new=found, known=tuple(known), seq=seq)


def _listed(results: Sequence[ReportedResultView]) -> View:
    return View(tables=[_table("Reported results", results, nothing="There are none.")])


@action("reported.list", "GET /api/v1/maintenance/reported", view=_listed)
def results(ctx: ActionContext) -> list[ReportedResultView]:
    """Show all results, shipped and imported, removed ones too, with what arithmetic says. For maintainers."""
    with ctx.database.read() as session:
        return [_result(row, ctx.items.table.spec) for row in _all(ctx, session)]


@action(
    "reported.edit",
    "PATCH /api/v1/maintenance/reported/{result}",
    audit=EDITED,
    title="Reported result corrected",
    shown=_OF_A_DECISION,
    public="Reported result {result} was corrected ({fields}): {reason}",
    button="Correct",
    single=True,
)
def edit(ctx: ActionContext, result: ResultId, changes: ResultChanges, reason: ChangeReason) -> ActionResult:
    """Change fields of a result, shipped or imported; its address stays. For maintainers.

    A note beside it is annotation=TEXT with annotation_url=ADDRESS.
    """
    why = clean_reason(reason)
    spec = ctx.items.table.spec
    names = fields(spec)
    unknown = sorted(set(changes) - set(names))
    if unknown:
        raise Conflict("unknown-field", f"{', '.join(unknown)}: the fields are {', '.join(names)}.")
    with ctx.database.write() as session:
        old = _find(ctx, session, result=result)
        checked, problems = read_row(0, {**{name: old.get(name) for name in names}, **changes}, spec=spec)
        if checked is None:
            raise ReportedFileRejected(problems)
        after = {name: checked.facts[name] for name in names if checked.facts[name] != old.get(name)}
        if not after:
            return ActionResult(False, "No change: it is so already.")
        seq = _decide(ctx, session, kind=EDITED, old=old, after=after, reason=why)
    return ActionResult(True, f"Changed: {', '.join(sorted(after))}.", seq=seq)


@action(
    "reported.remove",
    "POST /api/v1/maintenance/reported/{result}/remove",
    audit=REMOVED,
    title="Reported result removed",
    public="Reported result {name} was removed: {reason}",
    shown=_OF_A_DECISION,
    button="Remove",
    danger=True,
)
def remove(ctx: ActionContext, result: ResultId, reason: ChangeReason) -> ActionResult:
    """Take a result off the board. For maintainers. Boards of earlier days keep it: they are cited."""
    why = clean_reason(reason)
    with ctx.database.write() as session:
        old = _find(ctx, session, result=result)
        if old.get("removed"):
            return ActionResult(False, "No change: it is so already.")
        seq = _decide(ctx, session, kind=REMOVED, old=old, after={"removed": why}, reason=why)
    return ActionResult(True, f"{old['name']} ({result}) is off the board.", seq=seq)


@action(
    "reported.undo",
    "POST /api/v1/maintenance/reported/{result}/undo",
    audit=UNDONE,
    title="Decision on a reported result taken back",
    public="Reported result {name} is as it was before ({fields}): {reason}",
    shown=_OF_A_DECISION,
    button="Undo",
)
def undo(ctx: ActionContext, result: ResultId, reason: ChangeReason) -> ActionResult:
    """Take back the last correction or removal of a result; repeated, the one before. For maintainers."""
    why = clean_reason(reason)
    with ctx.database.write() as session:
        old = _find(ctx, session, result=result)
        decided = (EDITED, REMOVED)
        last = audit.last_standing(session, result, kinds=decided, undone=UNDONE, benchmark=ctx.benchmark)
        if last is None:
            return ActionResult(False, "No decision about it stands: nothing to undo.")
        seq = _decide(ctx, session, kind=UNDONE, old=old, after=last["before"], reason=why)
    return ActionResult(True, f"Taken back of {old['name']} ({result}): {', '.join(last['fields'])}.", seq=seq)


def _decide(
    ctx: ActionContext, session: Session, *, kind: str, old: Mapping[str, Any], after: Mapping[str, Any], reason: str
) -> int:
    """Change a result, on record with what it was before."""
    before = {name: old.get(name) for name in after}
    # Its name is kept with every decision: what is left of a removed result has it.
    values = {"name": old["name"], **after}
    if after.get("removed"):
        values["removed_at"] = read_clock(session)
    reported_results.change(session, ctx.benchmark, row_id=old["id"], values=values)
    facts = {"result": old["id"], "name": old["name"], "fields": sorted(after), "before": before, "after": dict(after)}
    data = {**facts, "reason": reason, **ctx.author, "benchmark": ctx.benchmark}
    return audit.append(session, kind, data=data)


def _all(ctx: ActionContext, session: Session) -> list[dict[str, Any]]:
    rows = reported_results.listed(session, ctx.benchmark, shipped=ctx.shipped())
    return [row for row in rows if "source" in row]  # a definition may have ceased to ship one that was decided about


def _find(ctx: ActionContext, session: Session, *, result: str) -> dict[str, Any]:
    confusables.lock_names(session)
    audit.acquire_chain_lock(session)
    row = next((row for row in _all(ctx, session) if row["id"] == result), None)
    if row is None:
        raise NotFound(f"There is no reported result {result[:80]!r}.")
    return row


def _compare(
    rows: list[Read], existing: list[dict[str, Any]], *, spec: BenchmarkSpec, wrong: Iterable[FieldProblem]
) -> tuple[list[Read], list[str]]:
    """Return the rows that are new, and the ids of those that are there.

    Raises FileRejected for those that contradict what is there or one another, together with what was `wrong` before.
    """
    gone = {row["id"]: row for row in existing if row.get("removed")}
    there = [row for row in existing if not row.get("removed")]
    by_numbers = {same_numbers(row, spec.score_names): row["id"] for row in there}
    by_place = {_place(row): row["id"] for row in there}
    new, known, problems = [], [], list(wrong)
    for row in rows:
        if twin := by_numbers.get(same_numbers(row.facts, spec.score_names)):
            known.append(twin)
        elif row.facts["id"] in gone:
            old = gone[row.facts["id"]]
            message = (
                f"{old['id']} was removed on {iso(old['removed_at'])[:10]} ({old['removed']}). Leave it "
                "out, or undo that."
            )
            problems.append(FieldProblem("name", "removed", message=message, line=row.line))
        elif other := by_place.get(_place(row.facts)):
            message = (
                f"{other} has this name and source with other numbers. Edit it, or say in `place` where these are."
            )
            problems.append(FieldProblem("name", "contradicts", message=message, line=row.line))
        else:
            new.append(row)
    problems += repeated(new)
    if problems:
        raise ReportedFileRejected(sorted(problems, key=lambda problem: problem.line or 0))
    return new, known


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (normalized_name(str(row["name"])), row["url"], row.get("place") or None)


def _result(row: Mapping[str, Any], spec: BenchmarkSpec) -> ReportedResultView:
    figures = {name: row.get(name) for name in spec.score_names}
    check, removed = arithmetic(row, spec), row.get("removed")
    return ReportedResultView(
        row["id"], row["name"], source=row["source"], url=row["url"], figures=figures, check=check, removed=removed
    )
