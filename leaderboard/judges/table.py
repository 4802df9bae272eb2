"""Judges across benchmarks: for each judge its leading score and its leading report on every board. Pure.

A judge is the slug of its name. A cell without a result stays empty: nothing is averaged over different columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from leaderboard.ranking.rank_info import RankInfo
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.reported.findings import ReportedFinding
from vlrb.benchmarks.spec import GROUPS
from vlrb.common.messages import _, joined

Findings = Mapping[str, ReportedFinding]
"""What arithmetic says of reported results, by their ids."""
NO_FINDINGS: Findings = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class OverallFigure:
    """An overall number of a result, with its definition: which overall it is."""

    key: str
    title: str
    value: float  # a fraction
    interval: tuple[float, float] | None
    kind: str  # micro, or mean of how many categories
    label: str  # the definition among those of its board: another one over pairs than the headline has its name


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What one board says of a judge: its best entry scored here, and what was reported elsewhere."""

    board: Board
    scored: BoardRow | None
    info: RankInfo | None
    reported: tuple[BoardRow, ...]  # the one that leads first
    versions: tuple[BoardRow, ...] = ()  # all that were scored here, the best first
    figures: tuple[OverallFigure, ...] = field(init=False)  # of the scored entry, that which orders the board first
    reports: tuple[tuple[BoardRow, tuple[OverallFigure, ...]], ...] = field(init=False)  # results that state some

    def __post_init__(self) -> None:
        stated = ((row, _figures(row, self.board)) for row in self.reported)
        figures = () if self.scored is None else _figures(self.scored, self.board)
        object.__setattr__(self, "figures", figures)
        object.__setattr__(self, "reports", tuple((row, found) for row, found in stated if found))

    @property
    def leading_row(self) -> BoardRow | None:
        """The result that the column is sorted by: scored before reported; None without any."""
        return self.scored if self.figures else next((row for row, _ in self.reports), None)

    @property
    def leading(self) -> OverallFigure | None:
        """The figure that the column is sorted by; None without any."""
        figures = self.figures or next((reported for _, reported in self.reports), ())
        return figures[0] if figures else None

    @property
    def leads(self) -> bool:
        """Whether it may be first in its column."""
        return self.leading_row is not None and self.leading_row.leads


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """One judge, with a cell for each benchmark; None where its board knows nothing of the judge."""

    slug: str
    name: str
    cells: tuple[JudgeResult | None, ...]

    @property
    def benchmarks(self) -> int:
        """On how many benchmarks there is a result."""
        return sum(cell is not None for cell in self.cells)

    @property
    def scored(self) -> int:
        """On how many benchmarks it was scored here."""
        return sum(cell is not None and bool(cell.figures) for cell in self.cells)


def judge_lines(boards: Sequence[Board]) -> tuple[JudgeLine, ...]:
    """Return all judges: those scored here on most benchmarks first, then those on most, then by the first value."""
    results = [_results(board) for board in boards]
    names: dict[str, str] = {}
    for board in boards:
        for row in board.rows:
            if row.judge and row.tier != "baseline":
                names.setdefault(row.judge, row.judge_name)
    lines = [JudgeLine(slug, name, cells=tuple(result.get(slug) for result in results)) for slug, name in names.items()]
    return tuple(sorted(lines, key=lambda line: (-line.scored, -line.benchmarks, *map(_order, line.cells))))


def sorted_lines(
    lines: Iterable[JudgeLine], boards: Sequence[Board], *, sort: str, descending: bool = True
) -> list[JudgeLine]:
    """Return the lines ordered by a benchmark's column, ``name``, or as they are.

    What has no value in a column is last in either direction.
    """
    if sort == "name":
        return sorted(lines, key=lambda line: line.name.casefold(), reverse=descending)
    place = next((place for place, board in enumerate(boards) if board.benchmark == sort), None)
    if place is None:
        return list(lines)
    return sorted(lines, key=lambda line: _order(line.cells[place], descending=descending))


def judge_json(line: JudgeLine, findings: Findings = NO_FINDINGS) -> dict[str, Any]:
    """Return a judge as programs get it; accuracies are fractions."""
    cells = {cell.board.benchmark: _cell_json(cell, findings) for cell in line.cells if cell is not None}
    return {"judge": line.slug, "name": line.name, "url": f"/judges/{line.slug}", "benchmarks": cells}


def _results(board: Board) -> dict[str, JudgeResult]:
    """Return the results of a board by judge; its rows are in display order, so the first one leads."""
    rows: dict[str, list[BoardRow]] = {}
    for row in board.rows:
        if row.judge and row.tier != "baseline":
            rows.setdefault(row.judge, []).append(row)
    standings = board.standings()
    result: dict[str, JudgeResult] = {}
    for slug, same in rows.items():
        versions = tuple(row for row in same if row.tier == "scored")
        scored = next(iter(versions), None)
        info = standings.get(scored.id) if scored is not None else None
        result[slug] = JudgeResult(board, scored, info=info, reported=_leading_first(same, board), versions=versions)
    return result


def _leading_first(rows: Sequence[BoardRow], board: Board) -> tuple[BoardRow, ...]:
    """Return the reported results of a judge, the plain ones first.

    None leads whose judge was given the answer, or that took more votes than another of its source. Then those that
    state the headline, in the order of the board's reports.
    """
    reported = [row for row in rows if row.tier == "reported"]
    votes: dict[str, int] = {}
    for row in reported:
        votes[row.source] = min(votes.get(row.source, row.votes_per_item or 1), row.votes_per_item or 1)
    known = {name: place for same in board.reports.values() for place, name in enumerate(same)}

    def order(row: BoardRow) -> tuple[bool, bool, bool, int]:
        more = (row.votes_per_item or 1) > votes[row.source]
        return (not row.leads, more, row.value(board.headline) is None, known.get(row.id, len(known)))

    return tuple(sorted(reported, key=order))


def variant_of(row: BoardRow) -> str:
    """Return how a result was made where that is not one plain answer for each pair; "" where it was.

    Of what leads nothing it says why.
    """
    votes = row.votes_per_item or 1
    several = _("{votes} votes", votes=votes) if votes > 1 else ""
    why = _("given the answer") if row.oracle else row.remark
    return joined([text for text in (why, several) if text])


def _figures(row: BoardRow, board: Board) -> tuple[OverallFigure, ...]:
    """Return the overall figures of a row; a source may state one that the items of the board do not give."""
    spec, scored = board.spec, row.tier == "scored"
    keys = sorted(spec.overall_keys, key=lambda key: key != board.headline)
    return tuple(
        OverallFigure(
            key,
            spec.title_of(key),
            value=value,
            interval=row.interval.get(key),
            kind=definition_of(board, key),
            label=label_of(board, key),
        )
        for key in keys
        if (key in board.values or not scored) and (value := row.value(key)) is not None
    )


def definition_of(board: Board, key: str) -> str:
    """Return how a score of a board is made: over all pairs alike, over whole groups, or as a mean."""
    overall = board.spec.overall(key)
    if overall is not None and overall.pairs == 0:
        return _("definition not stated")
    if overall is not None and overall.kind == GROUPS:
        return _("groups all right")
    if overall is None or not board.spec.is_mean(key):
        return _("micro")
    return _("mean of {n}", n=len(overall.categories))


def label_of(board: Board, key: str) -> str:
    """Return what tells a score from the other overalls of its board: how it is made, or its name where that is shared
    with another one."""
    kind = definition_of(board, key)
    alike = [name for name in board.spec.overall_keys if definition_of(board, name) == kind]
    return kind if key == board.headline or len(alike) == 1 else _(board.spec.title_of(key))


def part_of(board: Board) -> str:
    """Return that a board has a part of its benchmark's pairs; nothing for one of all. A number of a part is no number
    of the benchmark, so each page says so beside it."""
    part = board.part
    return "" if part is None else _("{pairs:,} of {released:,} pairs", pairs=part[0], released=part[1])


def part_json(board: Board) -> dict[str, int] | None:
    """Return the same as programs get it; None for a board of all pairs."""
    return None if board.part is None else {"pairs": board.part[0], "released": board.part[1]}


def named_parts(boards: Iterable[Board]) -> str:
    """Return the boards that have a part of their pairs, by the names of their benchmarks; nothing for all whole."""
    parts = [(board.spec.title, part_of(board)) for board in boards]
    return joined([_("{title} ({part})", title=title, part=part) for title, part in parts if part])


def _order(cell: JudgeResult | None, *, descending: bool = True) -> tuple[int, int, float]:
    """Return what a column is sorted by. Figures of another definition than the column's follow those that have it,
    each definition by itself: numbers of two definitions are in no order. After them comes what leads nothing."""
    figure = cell.leading if cell is not None else None
    if cell is None or figure is None:
        return (2, 0, 0.0)
    keys = sorted(cell.board.spec.overall_keys, key=lambda key: key != cell.board.headline)
    return (int(not cell.leads), keys.index(figure.key), -figure.value if descending else figure.value)


def _cell_json(cell: JudgeResult, findings: Findings) -> dict[str, Any]:
    scored = None
    if cell.scored is not None:
        best = cell.info.best if cell.info is not None else None
        ranges = [best, cell.info.worst] if cell.info is not None and best is not None else None
        rank = cell.info.rank if cell.info is not None else None
        about = {"entry": cell.scored.id, "rank": rank, "rank_range": ranges, "remark": cell.scored.remark or None}
        scored = {**about, "votes_per_item": cell.scored.votes_per_item, "figures": _json(cell.figures)}
    return {
        "label_revision": cell.board.label_revision,
        "protocol": cell.board.protocol,
        "part": part_json(cell.board),
        "scored": scored,
        "reported": [_report_json(row, figures, finding=findings.get(row.id)) for row, figures in cell.reports],
    }


def _report_json(row: BoardRow, figures: Iterable[OverallFigure], *, finding: ReportedFinding | None) -> dict[str, Any]:
    """Return a reported result.

    ``arithmetic``: what is wrong with its figures, None where nothing is known to be. ``finding``: what arithmetic says
    in sentences. ``mixed``: definitions of overall that its table has in one column.
    ``oracle``: the judge was given a part of the answer.
    """
    return {
        "result": row.id,
        "model": row.model,
        "votes_per_item": row.votes_per_item,
        "oracle": row.oracle,
        "source": row.source,
        "url": row.url or None,
        "figures": _json(figures),
        "arithmetic": row.note or None,
        "finding": " ".join(finding.sentences) or None if finding is not None else None,
        "mixed": list(finding.mixed) if finding is not None else [],
    }


def _json(figures: Iterable[OverallFigure]) -> list[dict[str, Any]]:
    """Return overall numbers as programs get them, each with its definition."""
    return [
        {
            "key": figure.key,
            "title": figure.title,
            "definition": figure.kind,
            "value": figure.value,
            "interval": figure.interval and list(figure.interval),
        }
        for figure in figures
    ]
