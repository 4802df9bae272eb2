"""Results published elsewhere: importing them in bulk, changing and removing one. All or nothing, on record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.wording import counted
from maintenance import queries
from maintenance.reported_file import FIELDS, FileRejected, Read, RowProblem, arithmetic, read, read_row, repeated
from maintenance.values import Done, Identity, NotFound, NotPossible, require_maintainer, words
from storage import audit, lookalikes, reported
from storage.clock import iso
from storage.database import Database
from storage.reported import FIGURES, same_numbers

IMPORTED, EDITED = "reported.imported", "reported.edited"
REMOVED, RESTORED = "reported.removed", "reported.restored"

_MOST_ALIKE = 5  # entries named beside one name

Shipped = Iterable[Mapping[str, Any]]  # rows that come with the project: id, name, url, place, and FIGURES


@dataclass(frozen=True, slots=True)
class Result:
    """A reported result as maintainers see it. `check`: what arithmetic says about it."""

    id: str
    name: str
    source: str
    url: str
    figures: dict[str, float | None]
    check: str
    removed: str | None  # why, where it is not on the board


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import has done, or would do: rows that are new, and ids of those that were there already.

    `alike`: sentences about new names that look like an entry's and are written otherwise.
    """

    changed: bool
    message: str
    new: tuple[Result, ...]
    known: tuple[str, ...]
    alike: tuple[str, ...] = ()
    seq: int | None = None


def import_file(
    database: Database,
    who: Identity,
    benchmark: str,
    data: bytes,
    reason: str,
    shipped: Shipped = (),
    *,
    dry_run: bool = False,
) -> Imported:
    """Put all rows of a file on the board as reported, or none. For maintainers.

    Rows that are there already, with the same numbers, are left alone. Raises FileRejected with every problem.
    """
    require_maintainer(who)
    why = "dry run" if dry_run else words(reason)
    rows, problems = read(data)
    with database.read() as session:
        new, known = _compare(rows, reported.listed(session, benchmark), shipped, problems)
        alike = _alike(session, benchmark, [row.facts for row in new])
    if dry_run:
        return _imported(f"{counted(len(new), 'row')} can be imported", new, known, alike, changed=False)
    if not new:
        return _imported("Nothing is new", new, known, changed=False)
    with database.write() as session:
        lookalikes.line_up(session)
        audit.stand_in_line(session)
        new, known = _compare(rows, reported.listed(session, benchmark), shipped)  # others may have come in between
        if not new:
            return _imported("Nothing is new", new, known, changed=False)
        alike = _alike(session, benchmark, [row.facts for row in new])
        reported.add(session, benchmark, [row.facts for row in new], who.account)
        facts = {"count": len(new), "ids": [row.facts["id"] for row in new], "sha256": hashlib.sha256(data).hexdigest()}
        seq = audit.append(session, IMPORTED, {**facts, "reason": why, "by": who.account, "via": who.via})
    return _imported(f"{counted(len(new), 'row')} imported", new, known, alike, changed=True, seq=seq)


def results(database: Database, who: Identity, benchmark: str) -> list[Result]:
    """All imported results, removed ones too. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return [_result(row) for row in reported.listed(session, benchmark)]


def edit(
    database: Database, who: Identity, benchmark: str, row_id: str, changes: Mapping[str, Any], reason: str
) -> Done:
    """Change fields of an imported result; its address stays. For maintainers."""
    require_maintainer(who)
    why = words(reason)
    unknown = sorted(set(changes) - set(FIELDS))
    if unknown:
        raise NotPossible("unknown-field", f"{', '.join(unknown)}: the fields are {', '.join(FIELDS)}.")
    with database.write() as session:
        old = _find(session, benchmark, row_id)
        found, problems = read_row(0, {**{name: old[name] for name in FIELDS}, **changes})
        if found is None:
            raise FileRejected(problems)
        new = {name: found.facts[name] for name in FIELDS}
        before = {name: old[name] for name in FIELDS if new[name] != old[name]}
        if not before:
            return Done(False, "It is so already.")
        after = {name: new[name] for name in before}
        alike = _alike(session, benchmark, [after])
        reported.change(session, row_id, after)
        facts = {"result": row_id, "fields": sorted(before), "before": before, "after": after, "reason": why}
        seq = audit.append(session, EDITED, {**facts, "by": who.account, "via": who.via})
    return Done(True, " ".join([f"Changed: {', '.join(before)}.", *alike]), seq)


def remove(database: Database, who: Identity, benchmark: str, row_id: str, reason: str) -> Done:
    """Take an imported result off the board. For maintainers. Boards of earlier days keep it: they are cited."""
    return _set(database, who, benchmark, row_id, reason, removed=True)


def restore(database: Database, who: Identity, benchmark: str, row_id: str, reason: str) -> Done:
    """Bring a removed result back. For maintainers."""
    return _set(database, who, benchmark, row_id, reason, removed=False)


def _set(database: Database, who: Identity, benchmark: str, row_id: str, reason: str, *, removed: bool) -> Done:
    require_maintainer(who)
    why = words(reason)
    with database.write() as session:
        old = _find(session, benchmark, row_id)
        if (old["removed_at"] is not None) is removed:
            return Done(False, "It is so already.")
        at = queries.now(session) if removed else None
        reported.change(session, row_id, {"removed_at": at, "removed_reason": why if removed else None})
        facts = {"result": row_id, "name": old["name"], "reason": why, "by": who.account, "via": who.via}
        seq = audit.append(session, REMOVED if removed else RESTORED, facts)
    return Done(True, f"{old['name']} ({row_id}) is {'off the board' if removed else 'on the board again'}.", seq)


def _find(session: Any, benchmark: str, row_id: str) -> dict[str, Any]:
    lookalikes.line_up(session)
    audit.stand_in_line(session)
    found = next((row for row in reported.listed(session, benchmark) if row["id"] == row_id), None)
    if found is None:
        raise NotFound(
            f"There is no imported result {row_id[:80]!r}. Those that come with the project cannot be changed."
        )
    return found


def _compare(
    rows: list[Read], imported: list[dict[str, Any]], shipped: Shipped, wrong: Iterable[RowProblem] = ()
) -> tuple[list[Read], list[str]]:
    """The rows that are new, and the ids of those that are there.

    Raises FileRejected for those that contradict what is there or one another, together with what was `wrong` before.
    """
    gone = {row["id"]: row for row in imported if row["removed_at"] is not None}
    there = [*shipped, *(row for row in imported if row["removed_at"] is None)]
    by_numbers = {same_numbers(row): row["id"] for row in there}
    by_place = {_place(row): row["id"] for row in there}
    new, known, problems = [], [], list(wrong)
    for row in rows:
        if twin := by_numbers.get(same_numbers(row.facts)):
            known.append(twin)
        elif row.facts["id"] in gone:
            old = gone[row.facts["id"]]
            said = (
                f"{old['id']} was removed on {iso(old['removed_at'])[:10]} ({old['removed_reason']}). "
                "Leave it out, or restore it."
            )
            problems.append(RowProblem(row.line, "name", "removed", said))
        elif other := by_place.get(_place(row.facts)):
            said = f"{other} has this name and source with other numbers. Edit it, or say in `place` where these stand."
            problems.append(RowProblem(row.line, "name", "contradicts", said))
        else:
            new.append(row)
    problems += repeated(new)
    if problems:
        raise FileRejected(sorted(problems, key=lambda one: one.line or 0))
    return new, known


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (same_numbers({"name": row["name"]})[0], row["url"], row.get("place") or None)


def _alike(session: Any, benchmark: str, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Which names of reported rows look like those of entries and are written otherwise, in sentences."""
    rows = list(rows)
    said = []
    for field, column in lookalikes.REPORTED.items():
        names = list(dict.fromkeys(row[column] for row in rows if row.get(column)))
        for name, entries in lookalikes.entries_like(session, benchmark, field, names).items():
            theirs = ", ".join(f"{one.name} (entry {one.entry})" for one in entries[:_MOST_ALIKE])
            said.append(f"{column}: {name} looks like the {field} {theirs}.")
    return tuple(said)


def _imported(
    words_: str,
    new: list[Read],
    known: list[str],
    alike: tuple[str, ...] = (),
    *,
    changed: bool,
    seq: int | None = None,
) -> Imported:
    there = f"; {counted(len(known), 'row')} on the board already." if known else "."
    return Imported(changed, words_ + there, tuple(_result(row.facts) for row in new), tuple(known), alike, seq)


def _result(row: Mapping[str, Any]) -> Result:
    figures = {name: row[name] for name in FIGURES}
    about = (row["id"], row["name"], row["source"], row["url"])
    return Result(*about, figures, arithmetic(row), row.get("removed_reason"))
