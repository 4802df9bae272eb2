"""SQL of reported results: those that maintainers imported, and what they decided about those that come shipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.models.moderation import ReportedResult

BEFORE_FIGURES = (
    "id",
    "name",
    "organisation",
    "judge_type",
    "base_model",
    "parameters_b",
    "open_weights",
    "votes_per_item",
    "date",
)
AFTER_FIGURES = (
    "source",
    "place",
    "url",
    "notes",
    "judge_name",
    "reported_by",
    "oracle",
    "annotation",
    "annotation_url",
)
"""Fields of a row. Files and pages have its figures (percent, by the benchmark's score names) between these."""
_OFF_BOARD = ("removed", "removed_at")
"""Why and when a row was removed."""
Rows = Iterable[Mapping[str, Any]]


def normalized_name(name: str) -> str:
    """Return a name without differences of case and spacing."""
    return " ".join(name.casefold().split())


def same_numbers(row: Mapping[str, Any], figures: Sequence[str]) -> tuple[Any, ...]:
    """Return what makes two rows one: papers repeat each other's results, figure by figure.

    `figures`: the names of the benchmark's scores.
    """
    return (normalized_name(str(row["name"])), *(row.get(name) for name in figures))


def listed(session: Session, benchmark: str, *, shipped: Rows = ()) -> list[dict[str, Any]]:
    """Return all as decided: those shipped, then those imported; removed ones too, with `removed` (why) and
    `removed_at`.

    `shipped`: the rows that come with the definition; of these the database has only what maintainers changed.
    """
    columns = (ReportedResult.id, ReportedResult.facts)
    wanted = select(*columns).where(ReportedResult.benchmark == benchmark).order_by(ReportedResult.id)
    rows: dict[str, dict[str, Any]] = {row["id"]: dict(row) for row in shipped}
    for row_id, facts in session.execute(wanted):
        rows[row_id] = {**rows.get(row_id, {}), "id": row_id, **facts}
    return list(rows.values())


def list_active(session: Session, benchmark: str, *, shipped: Rows = ()) -> list[dict[str, Any]]:
    """Return those that are on the board."""
    rows = listed(session, benchmark, shipped=shipped)
    return [
        {name: value for name, value in row.items() if name not in _OFF_BOARD} for row in rows if not row.get("removed")
    ]


def list_removed(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return what is left in public of those that were removed, as of an entry that was withdrawn."""
    return [
        {"id": row["id"], "withdrawn": True, "reported": True, "at": iso(row["removed_at"])}
        | {"model": row["name"], "version": "", "reason": row["removed"]}
        for row in listed(session, benchmark)
        if row.get("removed")
    ]


def add(session: Session, benchmark: str, *, rows: Rows) -> None:
    """Add rows. Raises IntegrityError where an id is taken."""
    stored = [
        {"benchmark": benchmark, "id": row["id"], "facts": {name: row[name] for name in row if name != "id"}}
        for row in rows
    ]
    session.execute(insert(ReportedResult), stored)


def change(session: Session, benchmark: str, *, row_id: str, values: Mapping[str, Any]) -> None:
    """Write fields of a row; of a shipped row these alone are kept, so that a later version corrects the others."""
    row = session.get(ReportedResult, (benchmark, row_id), with_for_update=True)
    if row is None:
        session.add(ReportedResult(benchmark=benchmark, id=row_id, facts=dict(values)))
    else:
        row.facts = {**row.facts, **values}
