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


def _number(value: float) -> str:
    return f"{value:g}"


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
    descending: bool = False  # the direction of the first click
    term: str = ""
    value_type: ValueType = "text"
    text: Callable[[Any], str] = str
    api: bool = True  # whether it is a field of the rows of /api/v1/leaderboard

    @property
    def stated(self) -> bool:
        """Whether it shows a field that storage/metadata.py declares with a column."""
        return self.key in metadata.COLUMNS

    @property
    def right(self) -> bool:
        """Numbers without a drawing beside them stand at the right edge."""
        return self.kind in ("rank", "share", "number")


def _accuracy(key: str, subtitle: str, *, kind: ColumnKind, description: str, spec: BenchmarkSpec) -> Column:
    narrow = len(spec.categories) > _WIDE
    short = next((category.short for category in spec.categories if narrow and category.key == key), "")
    return Column(
        key,
        short or spec.title_of(key),
        subtitle=subtitle,
        kind=kind,
        descending=True,
        description=description,
        term=key,
        value_type="number",
        text=percent,
    )


def _stated(name: str, field: MetadataField) -> Column:
    """Return the column that a field of the metadata declares."""
    assert field.column is not None
    number = field.storage in ("number", "whole")
    return Column(
        name,
        field.column.title,
        subtitle=field.column.subtitle,
        kind="number" if number else "text",
        descending=number,
        description=f"{field.help[0].upper()}{field.help[1:]}.",
        term=field.column.term,
        value_type="number" if number else "text",
        text=field.cell if number else str,
    )


_LEFT: tuple[Column, ...] = (
    Column(
        "rank",
        "Rank",
        kind="rank",
        description="Position among entries scored here; equal counts share it.",
        term="rank",
        value_type="whole",
    ),
    Column(
        "model",
        "Judge",
        kind="judge",
        description="The judge, and under it who says so.",
        term="model",
    ),
)
_RIGHT: tuple[Column, ...] = (
    Column(
        "votes_per_item",
        "K",
        subtitle="votes",
        kind="number",
        descending=True,
        description="Votes per pair.",
        term="k",
        value_type="whole",
    ),
    Column(
        "decided_rate",
        "Answered",
        subtitle="%",
        kind="share",
        descending=True,
        description="Share of pairs with a majority for either response.",
        term="decided",
        value_type="number",
        text=percent,
    ),
    Column(
        "ece",
        "Calibration",
        subtitle="error, %",
        kind="share",
        description="How far its confidence is from its accuracy; compare judges with as many votes.",
        term="ece",
        value_type="number",
        text=percent,
    ),
    Column(
        "both_orders",
        "Both orders",
        subtitle="same, %",
        kind="share",
        descending=True,
        description="Share of pairs with the same verdict whichever response is shown first.",
        term="orders",
        value_type="number",
        text=percent,
    ),
    Column(
        "judge_type",
        "Type",
        description="How the judge arrives at a preference.",
        term="type",
        text=_type,
    ),
    Column(
        "date",
        "Date",
        kind="date",
        descending=True,
        description="Submitted here, or published.",
        term="date",
        value_type="day",
        api=False,
    ),
    Column(
        "parameters_b",
        "Size",
        subtitle="billion",
        kind="number",
        descending=True,
        description="Parameters of the model.",
        term="size",
        value_type="number",
        text=_number,
    ),
    Column(
        "open_weights",
        "Weights",
        description="Whether everybody can have the weights.",
        term="open",
        value_type="flag",
        text=_open,
    ),
    Column(
        "base_model",
        "Base model",
        description="The model that was trained or asked.",
        term="base",
    ),
    Column(
        "organisation",
        "Organisation",
        description="The organisation.",
        term="org",
    ),
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
    if overall is None:
        about = next(category.about or category.title for category in spec.categories if category.key == name)
        return _accuracy(name, SIZE, kind="interval", description=f"Accuracy on {about}.", spec=spec)
    kind: ColumnKind = "interval" if name == spec.headline else "share"
    return _accuracy(
        name, overall.subtitle or SIZE, kind=kind, description=overall.about or f"{overall.title}.", spec=spec
    )
