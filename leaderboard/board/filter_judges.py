"""Rows of judges that filtered the pairs of a benchmark: only pairs that they get wrong were kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vlrb.common.messages import _, joined
from vlrb.judges import judge_slug

if TYPE_CHECKING:
    from leaderboard.board.rows import BoardRow

MARK = _("filtered these pairs")
EXPLANATION = _(
    "This judge was used to filter these pairs: pairs were kept because it got them wrong, so "
    "its score here is biased downward."
)
_TUNING = re.compile(r"-(instruct|chat|it|hf)$")
"""Endings of repository names that people leave out when they name a model."""


def is_filter_judge(names: Iterable[str], filtered_by: Sequence[str]) -> bool:
    """Return whether one of a row's names is one of the judges; an owner before a slash does not count."""
    return not {_key(name) for name in filtered_by}.isdisjoint(_key(name) for name in names if name)


def mark_filter_judges(rows: Iterable[BoardRow], filtered_by: Sequence[str]) -> list[BoardRow]:
    """Return the rows; those of judges that filtered the pairs say so in their notes."""
    return [_marked(row) if is_filter_judge(_names(row), filtered_by) else row for row in rows]


def _names(row: BoardRow) -> tuple[str, ...]:
    return row.model, row.judge_name


def _marked(row: BoardRow) -> BoardRow:
    return replace(row, filter_judge=True, note=joined((MARK, row.note), " · ") if row.note else MARK)


def _key(name: str) -> str:
    slug = judge_slug(name.rpartition("/")[2])
    while (shorter := _TUNING.sub("", slug)) != slug:
        slug = shorter
    return slug
