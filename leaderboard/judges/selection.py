"""Selection of judges from all boards, for pages and JSON: the lines asked for, and composites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request

from leaderboard.board.rows import Board
from leaderboard.cache import BoardVersion
from leaderboard.judges.composite import JudgeComposite, composite_of
from leaderboard.judges.query import COMPOSITE, JudgesQuery, matching, read_judges_query
from leaderboard.judges.table import JudgeLine, judge_lines, sorted_lines
from leaderboard.pages.reported_findings import ReportedFinding, report_findings
from vlrb.statistics.pairwise import PairwiseArrays


@dataclass(frozen=True, slots=True)
class SelectedLines:
    """The lines of one page, how many there are in all, and the composites of all judges."""

    boards: tuple[Board, ...]
    lines: tuple[JudgeLine, ...]
    total: int
    page: int
    pages: int
    composites: Mapping[str, JudgeComposite]


Relations = Callable[[BoardVersion], PairwiseArrays | None]
"""The paired counts of a board; it blocks."""


def version_key(board_versions: Sequence[BoardVersion]) -> str:
    """Return the key of what is made of these boards: hiding an entry makes a version anew of the same snapshot."""
    return "/judges|" + "|".join(
        f"{board_version.snapshot_id}.{board_version.serial}" for board_version in board_versions
    )


def read_query(request: Request, board_versions: Sequence[BoardVersion]) -> JudgesQuery:
    """Return the view that a request asks for."""
    return read_judges_query(request.query_params, [board_version.benchmark for board_version in board_versions])


def of_agreement(asked: JudgesQuery) -> JudgesQuery:
    """Return what counts of a view where benchmarks are compared."""
    return JudgesQuery(search=asked.search, tier=asked.tier)


def tested(board_versions: Sequence[BoardVersion], relations: Sequence[Relations]) -> dict[str, PairwiseArrays]:
    """Return the counts of pairs of the boards that have some; it blocks."""
    read = zip(board_versions, relations, strict=False)
    return {version.benchmark: counts for version, of in read if (counts := of(version)) is not None}


def selected(
    board_versions: Sequence[BoardVersion], asked: JudgesQuery, *, relations: Sequence[Relations] = ()
) -> SelectedLines:
    """Return all lines that were asked for, in their order."""
    boards = tuple(board_version.board() for board_version in board_versions)
    every = lines_of(board_versions)
    composites = composite_of(every, [board.benchmark for board in boards], tested=tested(board_versions, relations))
    lines = sorted_lines(matching(every, asked), boards, sort=asked.sort, descending=asked.descending)
    if asked.sort == COMPOSITE:
        sign = -1 if asked.descending else 1
        lines.sort(key=lambda line: sign * composites[line.slug].composite.value if line.slug in composites else 2.0)
    return SelectedLines(boards, tuple(lines), total=len(lines), page=1, pages=1, composites=composites)


def findings_of(board_versions: Sequence[BoardVersion]) -> dict[str, ReportedFinding]:
    """Return what arithmetic says of all reported results, by their ids."""
    found: dict[str, ReportedFinding] = {}
    for board_version in board_versions:
        found |= board_version.drawn("findings", partial(report_findings, board_version.published))
    return found


def lines_of(board_versions: Sequence[BoardVersion]) -> tuple[JudgeLine, ...]:
    """Return all judges; they are read once for each version of the boards."""
    lines: tuple[JudgeLine, ...] = board_versions[0].drawn(
        version_key(board_versions), lambda: judge_lines([board_version.board() for board_version in board_versions])
    )
    return lines
