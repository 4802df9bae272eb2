"""SQL of imported results from papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.models.operations import ReportedResult

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
)
"""Fields of a row. Files and pages have its figures (percent, by the benchmark's score names) between these."""
_COLUMNS = (*BEFORE_FIGURES, *AFTER_FIGURES)


def normalized_name(name: str) -> str:
    """Return a name without differences of case and spacing."""
    return " ".join(name.casefold().split())


def same_numbers(row: Mapping[str, Any], figures: Sequence[str]) -> tuple[Any, ...]:
    """Return what makes two rows one: papers repeat each other's results, figure by figure.

    `figures`: the names of the benchmark's scores.
    """
    return (normalized_name(str(row["name"])), *(row.get(name) for name in figures))


def list_active(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return those that are on the board, by id."""
    return [
        {name: value for name, value in row.items() if not name.startswith("removed_")}
        for row in listed(session, benchmark)
        if row["removed_at"] is None
    ]


def listed(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return all, removed ones too (`removed_at`, `removed_reason`), by id."""
    columns = (*(getattr(ReportedResult, name) for name in _COLUMNS), ReportedResult.figures)
    rows = session.execute(
        select(*columns, ReportedResult.removed_at, ReportedResult.removed_reason)
        .where(ReportedResult.benchmark == benchmark)
        .order_by(ReportedResult.id)
    )
    return [_flat(dict(row._mapping)) for row in rows]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    figures = row.pop("figures")
    return {**row, **figures}


def list_removed(session: Session, benchmark: str) -> list[dict[str, Any]]:
    """Return what is left in public of those that were removed, as of an entry that was withdrawn."""
    return [
        {"id": row["id"], "withdrawn": True, "reported": True, "at": iso(row["removed_at"])}
        | {"model": row["name"], "version": "", "reason": row["removed_reason"]}
        for row in listed(session, benchmark)
        if row["removed_at"] is not None
    ]


def add(session: Session, benchmark: str, *, rows: Sequence[Mapping[str, Any]], by: str) -> None:
    """Add rows, each with its figures beside the other fields.

    Raises:
        IntegrityError: an id is taken.
        UnfitFigures: a figure is no percentage.
    """
    if rows:
        stored = [{**_columns(row), "benchmark": benchmark, "imported_by": by} for row in rows]
        session.execute(insert(ReportedResult), stored)


def change(session: Session, benchmark: str, *, row_id: str, values: Mapping[str, Any]) -> None:
    """Write fields of a row. Raises UnfitFigures where a figure is no percentage."""
    same = (ReportedResult.benchmark == benchmark, ReportedResult.id == row_id)
    known = session.execute(select(ReportedResult.figures).where(*same).with_for_update()).scalar_one_or_none()
    columns = _columns(values)
    if columns["figures"]:
        columns["figures"] = {**(known or {}), **columns["figures"]}
    else:
        del columns["figures"]
    session.execute(update(ReportedResult).where(*same).values(**columns))


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as it is stored: what is no column is a figure."""
    table = ReportedResult.__table__.columns
    figures = {name: value for name, value in row.items() if name not in table}
    return {name: value for name, value in row.items() if name in table} | {"figures": figures}
