"""Preview of a re-score for people and as CSV: entries by the size of their move, pairs whose label changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from common.csv_text import csv_table
from maintenance.decision_log import label_difference
from maintenance.types import plural
from maintenance.view import NOTHING, Row, Table, TableCell, View, entry_link
from vlrb.common.rounding import percent

_MOST = 200  # rows that people see; the files have all
_CHANGES = {"flipped": "inverted", "added": "added", "dropped": "dropped", "tags": "other error tags"}
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


def rank_ranges(row: Mapping[str, Any]) -> Sequence[Sequence[int] | None]:
    """Return the rank ranges of an entry before and after; None where there is none."""
    return row.get("rank_range") or (None, None)


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
    for there in rank_ranges(row):
        cells += (None, None) if there is None else there
    return [*cells, *(value for name in columns for value in row[name])]


def pairs_csv(result: Mapping[str, Any]) -> bytes:
    """Return the pairs whose labels change as CSV; the head alone where they are not shown."""
    pairs = result.get("pairs") or ()
    return csv_table(PAIR_COLUMNS, ([_cell(pair.get(name, "")) for name in PAIR_COLUMNS] for pair in pairs))


def _cell(value: Any) -> str:
    """Return a text, the names of a list, or the names and numbers of a mapping."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{number}" for name, number in value.items())
    return " ".join(value) if isinstance(value, list) else str(value)


def shown(result: Mapping[str, Any]) -> View:
    """Return what applying would change, those entries first that move furthest."""
    entries, pairs = by_move(result["entries"], result["columns"]), result.get("pairs") or ()
    rules = result.get("rules") or {"before": {}, "after": {}}
    lines = [
        *(f"{name}: {old or NOTHING} → {rules['after'][name] or NOTHING}." for name, old in rules["before"].items()),
        (result.get("disclosure") or {}).get("readers"),
        *_summary(result),
    ]
    if len(entries) > _MOST or len(pairs) > _MOST:
        lines.append(f"At most {_MOST} rows of a table are shown. The files have all of them.")
    if "pairs" not in result:
        lines.append("Which labels change is not shown here, because not all of them are public.")
    columns = ("Judge", "Id", "Rank", "Rank range", *(name.capitalize() for name in result["columns"]))
    rows = [_preview_row(row, result["columns"]) for row in entries[:_MOST]]
    head = ("Pair", "Category", "Change", "Before", "After")
    changed = Table("Labels that change", head, [_pair_row(pair) for pair in pairs[:_MOST]])
    tables = [Table("Entries", columns, rows, "None."), changed]
    return View([f"{line}" for line in lines if line], tables=tables)


def _summary(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return what is compared, and what changes: two sentences."""
    summary, boards = result["summary"], f"From {board_words(result['from'])} to {board_words(result['to'])}"
    compared = f"{boards}: {label_difference(result['labels'])}"
    changed = f"{summary['changed']:,} change, {summary['moved']:,} move in rank"
    largest = f"the macro average by at most {100 * (summary['largest_change'] or 0.0):.2f} points"
    return compared, f"{plural(summary['entries'], 'entry', many='entries')}: {changed}, {largest}."


def board_words(pointer: Mapping[str, Any]) -> str:
    """Return what a board shows."""
    version = pointer.get("scorer_version")
    return f"label revision {pointer['label_revision']}" + (f", scorer version {version}" if version else "")


def _preview_row(row: Mapping[str, Any], columns: Sequence[str]) -> Row:
    sides = ["-".join(map(str, dict.fromkeys(side))) if side else NOTHING for side in rank_ranges(row)]
    ranges = NOTHING if sides == [NOTHING, NOTHING] else " → ".join(dict.fromkeys(sides))
    name = entry_link(row["id"], f"{row['model']} {row['version']}".strip())
    numbers = (_rank_words(row), ranges, *(_points(row[column]) for column in columns))
    return Row((name, row["id"], *(TableCell(text, number=True) for text in numbers)))


def _rank_words(row: Mapping[str, Any]) -> str:
    """Return both ranks and the move; one rank where it stays."""
    before, after = (NOTHING if rank is None else f"{rank}" for rank in row["rank"])
    gained = move(row)
    if before == after:
        return before
    return f"{before} → {after}" + (f" ({'▲' if gained > 0 else '▼'}{abs(gained)})" if gained else "")


def _points(shares: Sequence[float | None]) -> str:
    before, after = shares
    if before is None or after is None:
        return NOTHING
    change = round(100 * (after - before), 2)
    moved = f"{change:+.2f}".replace("-", "\u2212") if change else "±0.00"  # the minus of the public pages
    return f"{percent(before)} → {percent(after)} ({moved})"


def _pair_row(pair: Mapping[str, Any]) -> Row:
    sides = [(pair[f"tags_{side}"] if pair["change"] == "tags" else [pair[side]]) for side in ("before", "after")]
    name = TableCell(pair["pair"], link=f"/explore/{quote(pair['pair'], safe='')}")
    return Row((name, pair["category"], _CHANGES[pair["change"]], *(", ".join(side) for side in sides)))
