"""SQL of imported results from papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.models.operations import ReportedResult

FIGURES = ("general", "hallucination", "reasoning", "overall", "macro")  # percent, as printed
FACTS = (
    "id",
    "name",
    "organisation",
    "judge_type",
    "base_model",
    "parameters_b",
    "open_weights",
    "votes_per_item",
    "date",
    *FIGURES,
    "source",
    "place",
    "url",
    "notes",
    "judge_name",
    "reported_by",
)
_COLUMNS = tuple(getattr(ReportedResult, name) for name in FACTS)


def same_numbers(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what makes two rows one: papers repeat each other's results, figure by figure."""
    return (" ".join(str(row["name"]).casefold().split()), *(row.get(name) for name in FIGURES))


def shown(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return those that are on the board, by id."""
    return [{name: row[name] for name in FACTS} for row in listed(session, benchmark) if row["removed_at"] is None]


def listed(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return all, removed ones too (`removed_at`, `removed_reason`), by id."""
    rows = session.execute(
        select(*_COLUMNS, ReportedResult.removed_at, ReportedResult.removed_reason)
        .where(ReportedResult.benchmark == benchmark)
        .order_by(ReportedResult.id)
    )
    return [dict(row._mapping) for row in rows]


def gone(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return what is left in public of those that were removed, as of an entry that was withdrawn."""
    return [
        {"id": row["id"], "withdrawn": True, "reported": True, "at": iso(row["removed_at"])}
        | {"model": row["name"], "version": "", "reason": row["removed_reason"]}
        for row in listed(session, benchmark)
        if row["removed_at"] is not None
    ]


def add(session: Session, benchmark: str, rows: Sequence[Mapping[str, Any]], by: str) -> None:
    """Add rows of FACTS. Raises IntegrityError where an id is taken."""
    if rows:
        session.execute(insert(ReportedResult), [{**row, "benchmark": benchmark, "imported_by": by} for row in rows])


def change(session: Session, row_id: str, values: Mapping[str, Any]) -> None:
    """Write columns of a row."""
    session.execute(update(ReportedResult).where(ReportedResult.id == row_id).values(**values))
