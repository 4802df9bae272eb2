"""URL state of the judges' table: search, order, page; and the lines that it selects. Pure.

The search is that of the board. A term holds for a judge if one of its rows on any benchmark has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from leaderboard.judges.table import JudgeLine, JudgeResult
from leaderboard.ranking.parameters import address, one_of, page_number
from leaderboard.ranking.rows import BoardRow
from leaderboard.ranking.search import term, words

PAGE = 25
MOST_SEARCH = 200
NAME, COMPOSITE = "name", "composite"
JudgeTier = Literal["all", "scored", "reported"]
TIERS: tuple[JudgeTier, ...] = ("all", "scored", "reported")


@dataclass(frozen=True, slots=True)
class JudgesQuery:
    """What a visitor of the table asked for. ``sort``: a benchmark's id, NAME, COMPOSITE, or "" for the usual order."""

    sort: str = ""
    descending: bool = True
    search: str = ""
    tier: JudgeTier = "all"
    page: int = 1

    def with_sort(self, sort: str) -> JudgesQuery:
        """Return the view after a click on a heading: its first direction, or the other one of what orders it now."""
        return replace(self, sort=sort, descending=not self.descending if sort == self.sort else sort != NAME, page=1)

    @property
    def of_agreement(self) -> JudgesQuery:
        """What counts of the view where benchmarks are compared."""
        return JudgesQuery(search=self.search, tier=self.tier)

    def url(self, path: str = "/judges", **changes: Any) -> str:
        """Return the address of this view, with changes; what is usual is left out."""
        view = replace(self, **changes)
        turned = bool(view.sort) and view.descending is (view.sort == NAME)
        named = {
            "q": view.search,
            "tier": "" if view.tier == "all" else view.tier,
            "sort": view.sort,
            "dir": ("desc" if view.descending else "asc") if turned else "",
            "page": str(view.page) if view.page > 1 else "",
        }
        return address(path, named)


def read_judges_query(parameters: Mapping[str, str], benchmarks: Sequence[str]) -> JudgesQuery:
    """Return the view of a query string. A value that means nothing is as good as none: a link never breaks."""
    sort = one_of(parameters, "sort", (NAME, COMPOSITE, *benchmarks))
    direction = parameters.get("dir", "")
    return JudgesQuery(
        sort=sort,
        descending=direction == "desc" if direction in ("asc", "desc") else sort != NAME,
        search=parameters.get("q", "").strip()[:MOST_SEARCH],
        tier=next((tier for tier in TIERS if tier == parameters.get("tier")), "all"),
        page=page_number(parameters),
    )


def matching(lines: Iterable[JudgeLine], asked: JudgesQuery) -> list[JudgeLine]:
    """Return the judges that the search leaves, each with the results of the tier asked for."""
    wanted = words(asked.search)
    lines = filter(None, (_of_tier(line, asked.tier) for line in lines))
    return [line for line in lines if all(_has(line, word) for word in wanted)]


def _has(line: JudgeLine, word: str) -> bool:
    if word in line.name.casefold():
        return True
    return any(term(word, cell.board.spec)(row) for cell in line.cells if cell is not None for row in _rows(cell))


def _rows(cell: JudgeResult) -> tuple[BoardRow, ...]:
    return cell.reported if cell.scored is None else (cell.scored, *cell.reported)


_KEPT: Mapping[str, Callable[[JudgeResult], JudgeResult]] = {
    "scored": lambda cell: replace(cell, reported=()),
    "reported": lambda cell: replace(cell, scored=None, info=None, versions=()),
}


def _of_tier(line: JudgeLine, tier: JudgeTier) -> JudgeLine | None:
    """Return a judge with what was scored here or reported alone; None where nothing is left."""
    if tier == "all":
        return line
    cells = [None if cell is None else _KEPT[tier](cell) for cell in line.cells]
    left = tuple(cell if cell is not None and _rows(cell) else None for cell in cells)
    return replace(line, cells=left) if any(left) else None
