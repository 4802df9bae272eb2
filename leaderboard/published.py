"""Results from the literature, each with its source, and what arithmetic says about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmark.items import CATEGORIES
from benchmark.plausibility import SPLITS, ArithmeticCheck, arithmetic_check, check_numbers, read_figures

_SIZES = {split.grouping: split.sizes for split in reversed(SPLITS)}  # the first split of a grouping counts
_FIGURES = (*CATEGORIES, "overall", "macro")


@dataclass(frozen=True, slots=True)
class Published:
    """One published result; ``figures`` in percent as printed, None where the source has none."""

    id: str
    name: str
    organisation: str
    judge_type: str
    base_model: str
    parameters_b: float | None
    open_weights: bool | None
    votes_per_item: int | None
    date: str
    figures: Mapping[str, float | None]
    source: str
    place: str  # where in the source
    url: str
    notes: str
    check: ArithmeticCheck | None  # None: the figures leave nothing to check

    @property
    def remark(self) -> str:
        """The short phrase for the board: nothing where the official sizes fit, or nothing can be checked."""
        return (self.check.remark or "") if self.check else ""

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """The category sizes that the figures follow, where arithmetic tells."""
        grouping = self.check.grouping if self.check else None
        return _SIZES[grouping] if grouping else None

    @property
    def explanation(self) -> tuple[str, ...]:
        """What whole numbers could be behind the figures, in sentences; takes up to a tenth of a second."""
        return check_numbers(read_figures(**self.figures)).sentences


@cache
def load_published() -> tuple[Published, ...]:
    """The results shipped with the project."""
    path = Path(__file__).with_name("published.json")
    return tuple(_read(row) for row in json.loads(path.read_text(encoding="utf-8")))


def _read(row: Mapping[str, Any]) -> Published:
    figures = {name: row[name] for name in _FIGURES}
    return Published(
        row["id"],
        row["name"],
        row.get("organisation") or "",
        row.get("judge_type") or "",
        row.get("base_model") or "",
        row.get("parameters_b"),
        row.get("open_weights"),
        row.get("votes_per_item"),
        row.get("date") or "",
        figures,
        row["source"],
        row.get("place") or "",
        row["url"],
        row.get("notes") or "",
        arithmetic_check(**figures),
    )


def with_imported(shipped: Sequence[Published], snapshot: Mapping[str, Any]) -> tuple[Published, ...]:
    """The shipped results, and those that maintainers had imported when a snapshot was made; nothing twice."""
    there = {_numbers(one.name, one.figures) for one in shipped} | {one.id for one in shipped}
    imported = (_read(row) for row in snapshot.get("reported") or ())
    return (*shipped, *(one for one in imported if not {_numbers(one.name, one.figures), one.id} & there))


def shipped_results() -> list[dict[str, Any]]:
    """What is known of the shipped results, for those who must not repeat or imitate them."""
    return [
        {"id": one.id, "name": one.name, "organisation": one.organisation, "url": one.url, "place": one.place}
        | dict(one.figures)
        for one in load_published()
    ]


def _numbers(name: str, figures: Mapping[str, float | None]) -> tuple[Any, ...]:
    return (" ".join(name.casefold().split()), *(figures[one] for one in _FIGURES))


def find(rows: Sequence[Published], row_id: str) -> Published | None:
    """The published result with this id."""
    return next((row for row in rows if row.id == row_id), None)
