"""Pages of the board's rows for programs: a limit, and a cursor that stays with the snapshot it began on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

LARGEST_PAGE = 1000
_USUAL = 100
_CURSOR = re.compile(r"([0-9a-f]{16}|)\.(\d{1,9})")  # without a snapshot before there was one
_PageRow = TypeVar("_PageRow")


@dataclass(frozen=True, slots=True)
class PageOfRows:
    """Which rows are asked for; without a limit all of them. `snapshot`: the first digits of its id, or "". `sort`: the
    column that orders them, `key` or `key:asc`; "" is display order. `tier`: "scored", "reported" or "" for both."""

    start: int = 0
    limit: int | None = None
    snapshot: str = ""
    sort: str = ""
    tier: str = ""

    @property
    def key(self) -> str:
        """Return what tells pages of one board apart."""
        page = "" if self.limit is None else f"|{self.start}+{self.limit}"
        return "|".join((page, self.sort, self.tier)) if self.sort or self.tier else page

    def cut(self, rows: Sequence[_PageRow]) -> Sequence[_PageRow]:
        """Return the rows of this page."""
        return rows if self.limit is None else rows[self.start : self.start + self.limit]

    def following(self, rows: int, snapshot_id: str) -> str | None:
        """Return the cursor of the next page of so many rows; None where this is the last one."""
        after = self.start + (self.limit or rows)
        return f"{snapshot_id[:16]}.{after}" if after < rows else None


def read_page(limit: int | None, cursor: str, *, sort: str = "", tier: str = "") -> PageOfRows | None:
    """Return what a request asks for; None for a cursor that is none."""
    if not cursor:
        return PageOfRows(0, limit, sort=sort, tier=tier)
    match = _CURSOR.fullmatch(cursor)
    return PageOfRows(int(match[2]), limit or _USUAL, snapshot=match[1], sort=sort, tier=tier) if match else None
