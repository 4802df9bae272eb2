"""Result of an action as people read it: sentences, facts and tables, for a terminal and for the maintain page.

Programs get the result itself, as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from maintenance.types import ActionResult, to_jsonable

NOTHING = "–"
"""Placeholder for an absent value, as on the public pages."""
_DIGITS = 12  # of a commitment or key, as far as it is shown


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell. `link`: an address, here or elsewhere; `whole`: what `text` begins; `account`: `text` is its id."""

    text: str
    link: str = ""
    whole: str = ""
    number: bool = False
    account: bool = False


def shortened(text: str | None) -> TableCell:
    """Return the beginning of a digest or key, which the cell holds whole."""
    return TableCell(f"{text[:_DIGITS]}…", whole=text) if text else TableCell(NOTHING)


def entry_link(entry: str, name: str) -> TableCell:
    """Return the name of an entry, which leads to its page."""
    return TableCell(name, link=f"/entries/{entry}")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of cells, texts or numbers. `key`: what actions know it by; `without`: those that its state refuses."""

    values: Sequence[TableCell | str | int | None]
    key: str = ""
    name: str = ""
    without: Sequence[str] = ()

    @property
    def cells(self) -> list[TableCell]:
        """The values as cells."""
        return [_cell(value) for value in self.values]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below heads. `parameter`: of actions, whose values are the keys; `several`: whether of many rows at once."""

    title: str
    head: Sequence[str]
    rows: Sequence[Row]
    nothing: str = ""
    parameter: str = ""
    several: bool = True
    shows: str = ""  # the action that shows more of a row


@dataclass(frozen=True, slots=True)
class View:
    """What is said first, what is wrong, facts by name, tables. `good`: whether all is well; `downloads`: addresses."""

    lines: Sequence[str] = ()
    alarms: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    good: bool = True
    downloads: Sequence[tuple[str, str]] = ()
    pages: tuple[int, int] = (1, 1)  # the one that is shown, and how many there are
    waits: bool = False  # whether it will say more by itself


def view_of(result: Any) -> View:
    """Return the view of a result without one of its own: the sentence of an action, else its fields."""
    if isinstance(result, ActionResult):
        return View([result.message])
    fields = to_jsonable(result)
    return View(facts=[(name, f"{value}") for name, value in fields.items()])


def terminal(view: View) -> str:
    """Return a view as lines of text."""
    lines = [*view.lines, *(f"ALARM: {alarm}" for alarm in view.alarms)]
    lines += [f"{name}: {value}" for name, value in view.facts]
    for table in view.tables:
        lines += _table_lines(table, titled=len(view.tables) > 1)
    if view.pages[1] > 1:
        lines.append("Page {} of {}.".format(*view.pages))
    lines += [f"{words}: {address}" for words, address in view.downloads]
    return "".join(character if character.isprintable() or character == "\n" else " " for character in "\n".join(lines))


def _table_lines(table: Table, *, titled: bool) -> Iterable[str]:
    if not table.rows:
        return [table.nothing] if table.nothing else []
    rows = [list(table.head), *([_plain(cell) for cell in row.cells] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return ["", table.title, *lines] if titled else lines


def _plain(cell: TableCell) -> str:
    away = f" {cell.link}" if cell.link.startswith("http") else ""
    return " ".join((cell.whole or cell.text).split()) + away


def _cell(value: TableCell | str | int | None) -> TableCell:
    if isinstance(value, TableCell):
        return value
    return TableCell(NOTHING if value is None or value == "" else f"{value}", number=isinstance(value, int))
