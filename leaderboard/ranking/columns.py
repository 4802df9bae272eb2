"""Columns of the board, declared once for templates, sorting, search and the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from storage import metadata
from storage.metadata_fields import MetadataField
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.rounding import percent
from vlrb.judges import TYPES

ColumnKind = Literal["rank", "judge", "interval", "share", "number", "text", "date"]
ValueType = Literal["text", "whole", "number", "flag", "day", "moment"]
_WIDE = 3  # categories whose columns have room for their titles
SIZE = "n"
"""The subtitle that stands for the number of pairs."""


def _open(value: bool) -> str:
    return "open weights" if value else "closed weights"


def _type(value: str) -> str:
    return TYPES.get(value, value)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``key`` is the name in URLs, JSON, exports and CSS classes; ``subtitle`` may be empty.

    ``term`` is its name in the search. ``text`` formats a known value for people.
    """

    key: str
    title: str
    description: str
    subtitle: str = ""
    kind: ColumnKind = "text"
    term: str = ""
    value_type: ValueType = "text"
    text: Callable[[Any], str] = str

    @property
    def descending(self) -> bool:
        """Whether the first click puts the highest first: of numbers that are not errors, and of days."""
        return self.kind in ("interval", "share", "number", "date") and self.key != "ece"

    @property
    def stated(self) -> bool:
        """Whether it shows a field that storage/metadata.py declares with a column."""
        return self.key in metadata.COLUMNS

    @property
    def right(self) -> bool:
        """Numbers without a drawing beside them stand at the right edge."""
        return self.kind in ("rank", "share", "number")


def _percent(key: str, title: str, description: str, *, subtitle: str, kind: ColumnKind, term: str) -> Column:
    return Column(key, title, description, subtitle, kind=kind, term=term, value_type="number", text=percent)


def _stated(name: str, field: MetadataField) -> Column:
    """Return the column that a field of the metadata declares."""
    assert field.column is not None
    number = field.storage in ("number", "whole")
    kind: Literal["number", "text"] = "number" if number else "text"
    description, text = f"{field.help[0].upper()}{field.help[1:]}.", field.cell if number else str
    title, subtitle, term = field.column
    return Column(name, title, description, subtitle, kind=kind, term=term, value_type=kind, text=text)


_LEFT: tuple[Column, ...] = (
    Column(
        "rank",
        "Rank",
        "Position among entries scored here; equal counts share it.",
        kind="rank",
        term="rank",
        value_type="whole",
    ),
    Column("model", "Judge", "The judge, and under it who says so.", kind="judge", term="model"),
)
_RIGHT: tuple[Column, ...] = (
    Column("votes_per_item", "K", "Votes per pair.", "votes", kind="number", term="k", value_type="whole"),
    _percent(
        "decided_rate",
        "Answered",
        "Share of pairs with a majority for either response.",
        subtitle="%",
        kind="share",
        term="decided",
    ),
    _percent(
        "ece",
        "Calibration",
        "How far its confidence is from its accuracy; compare judges with as many votes.",
        subtitle="error, %",
        kind="share",
        term="ece",
    ),
    _percent(
        "both_orders",
        "Both orders",
        "Share of pairs with the same verdict whichever response is shown first.",
        subtitle="same, %",
        kind="share",
        term="orders",
    ),
    Column("judge_type", "Type", "How the judge arrives at a preference.", term="type", text=_type),
    Column("date", "Date", "Submitted here, or published.", kind="date", term="date", value_type="day"),
    Column(
        "parameters_b",
        "Size",
        "Parameters of the model.",
        "billion",
        kind="number",
        term="size",
        value_type="number",
        text="{:g}".format,
    ),
    Column(
        "open_weights", "Weights", "Whether everybody can have the weights.", term="open", value_type="flag", text=_open
    ),
    Column("base_model", "Base model", "The model that was trained or asked.", term="base"),
    Column("organisation", "Organisation", "The organisation.", term="org"),
    *(_stated(name, field) for name, field in metadata.COLUMNS.items()),
)
ALWAYS = ("rank", "model")
"""No table without these."""


@cache
def columns_of(spec: BenchmarkSpec) -> tuple[Column, ...]:
    """Return the columns of a benchmark's board: its scores stand behind the judge, the headline first."""
    return (*_LEFT, *(_score(name, spec) for name in spec.headline_first), *_RIGHT)


@cache
def by_key(spec: BenchmarkSpec) -> Mapping[str, Column]:
    """Return the columns by their keys."""
    return {column.key: column for column in columns_of(spec)}


@cache
def usual(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the columns that stand on the board without being asked for; many categories leave no room for more."""
    many = len(spec.categories) > _WIDE
    return (*ALWAYS, *((spec.headline, *spec.category_keys) if many else spec.headline_first))


def _score(name: str, spec: BenchmarkSpec) -> Column:
    overall = spec.overall(name)
    kind: ColumnKind = "interval" if overall is None or name == spec.headline else "share"
    if overall is not None:
        description, subtitle = overall.about or f"{overall.title}.", overall.subtitle or SIZE
        return _percent(name, spec.title_of(name), description, subtitle=subtitle, kind=kind, term=name)
    category = next(category for category in spec.categories if category.key == name)
    short = category.short if len(spec.categories) > _WIDE else ""
    description = f"Accuracy on {category.about or category.title}."
    return _percent(name, short or spec.title_of(name), description, subtitle=SIZE, kind=kind, term=name)
