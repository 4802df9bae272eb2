"""Rows of a preview of a re-score: entries by the size of their move, and pairs whose label changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vlrb.common.csv_text import csv_table

PAIR_COLUMNS = ("pair", "category", "change", "before", "after", "tags_before", "tags_after", "answers")


def move(row: Mapping[str, Any]) -> int | None:
    """Return the ranks that an entry gains; negative where it falls, None where it has no rank on one side."""
    before, after = row["rank"]
    return None if before is None or after is None else int(before - after)


def by_move(entries: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return entries, those that move furthest first; of equals those whose score changes most.

    `columns`: names of scores, the first of them is what ranks follow.
    """

    def size(row: Mapping[str, Any]) -> tuple[float, float]:
        before, after = row["rank"]
        ranks = abs(move(row) or 0) if (before is None) == (after is None) else float("inf")
        old, new = row[columns[0]]
        return -ranks, -abs(new - old) if None not in (old, new) else 0.0

    return sorted(entries, key=size)


def ranges(row: Mapping[str, Any]) -> tuple[Sequence[int] | None, Sequence[int] | None]:
    """Return the rank ranges of an entry before and after; None where there is none."""
    before, after = row.get("rank_range") or (None, None)
    return before, after


def entries_csv(result: Mapping[str, Any]) -> bytes:
    """Return all entries of a preview as CSV, in the order of `by_move`. Scores are fractions."""
    columns = result["columns"]
    sides = ("before", "after")
    head = ["id", "model", "version", *(f"rank_{side}" for side in sides), "move"]
    head += [f"rank_{end}_{side}" for side in sides for end in ("best", "worst")]
    head += [f"{name}_{side}" for name in columns for side in sides]
    rows = (_entry_cells(row, columns) for row in by_move(result["entries"], columns))
    return csv_table(head, rows)


def _entry_cells(row: Mapping[str, Any], columns: Sequence[str]) -> list[str | float | None]:
    cells = [row["id"], row["model"], row["version"], row["rank"][0], row["rank"][1], move(row)]
    for there in ranges(row):
        cells += (None, None) if there is None else there
    return [*cells, *(value for name in columns for value in row[name])]


def pairs_csv(result: Mapping[str, Any]) -> bytes:
    """Return the pairs whose labels change as CSV; the head alone where they are not shown."""
    return csv_table(PAIR_COLUMNS, _pair_cells(result.get("pairs") or ()))


def _pair_cells(pairs: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    for pair in pairs:
        yield [_cell(pair.get(name, "")) for name in PAIR_COLUMNS]


def _cell(value: Any) -> str:
    """Return a text, the names of a list, or the names and numbers of a mapping."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{number}" for name, number in value.items())
    return " ".join(value) if isinstance(value, list) else str(value)
