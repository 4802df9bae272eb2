"""Composites of judges over all benchmarks of a service: the mean of their scores. Pure.

Only scores made here count, each the headline of its board; none of votes that need no judge. A judge without one of
the benchmarks has no composite: nothing is averaged over different sets of columns. One version of it counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from leaderboard.judges.table import JudgeLine
from leaderboard.ranking.rows import Board, BoardRow
from vlrb.common.messages import _, joined
from vlrb.statistics.composite import BenchmarkScore, Composite, PairedVariances, composites
from vlrb.statistics.pairwise import PairwiseArrays
from vlrb.statistics.uncertainty import Interval

Tested = Mapping[str, PairwiseArrays]
"""The counts of pairs of benchmarks, where there are some."""


@dataclass(frozen=True, slots=True)
class JudgeComposite:
    """Composite of a judge. ``rows``: the entries that it is made of, by benchmark."""

    composite: Composite
    rows: Mapping[str, BoardRow]
    boards: Mapping[str, Board]

    @property
    def version(self) -> str:
        """The version that was scored; of several which one on which benchmark."""
        versions = {name: row.version or _("no version") for name, row in self.rows.items()}
        if len(set(versions.values())) == 1:
            version = next(iter(self.rows.values())).version
            return _("version {version}", version=version) if version else ""
        titles = {name: self.boards[name].spec.title for name in versions}
        return joined(
            [_("{version} on {benchmark}", version=text, benchmark=titles[name]) for name, text in versions.items()]
        )


def composite_of(
    lines: Sequence[JudgeLine], benchmarks: Collection[str], *, tested: Tested = MappingProxyType({})
) -> dict[str, JudgeComposite]:
    """Return slug -> composite of the judges that have a score on each of these benchmarks.

    Empty with fewer than two benchmarks. Differences of judges are paired where ``tested`` has both.
    """
    used = set(benchmarks)
    if len(used) < 2:
        return {}
    boards = {cell.board.benchmark: cell.board for line in lines for cell in line.cells if cell is not None}
    rows = {line.slug: _one_version(line, used) for line in lines}
    scores = {slug: {name: _score(row, boards[name]) for name, row in own.items()} for slug, own in rows.items() if own}
    paired = {
        name: known
        for name in used & tested.keys() & boards.keys()
        if (
            known := _paired(
                {slug: own[name].id for slug, own in rows.items() if name in own}, boards[name], tested=tested[name]
            )
        )
    }
    return {
        slug: JudgeComposite(composite, rows[slug], boards=boards)
        for slug, composite in composites(scores, dict.fromkeys(used, 1.0), paired=paired).items()
    }


def _one_version(line: JudgeLine, used: Collection[str]) -> dict[str, BoardRow]:
    """Return the entries of one version of a judge, that on most benchmarks, the latest of those; where it has none,
    the judge's best."""
    cells = {cell.board.benchmark: cell for cell in line.cells if cell is not None and cell.board.benchmark in used}
    by_version: dict[str, dict[str, BoardRow]] = {}
    for name, cell in cells.items():
        for row in cell.versions:
            if _has_score(row, cell.board):
                by_version.setdefault(row.version, {}).setdefault(name, row)
    if not by_version:
        return {}
    of_most = max(by_version.values(), key=lambda own: (len(own), max(row.submitted_at for row in own.values())))
    best = {name: own for name, cell in cells.items() if (own := cell.scored) and _has_score(own, cell.board)}
    return {**best, **of_most}


def _has_score(row: BoardRow, board: Board) -> bool:
    return row.leads and row.value(board.headline) is not None and board.headline in row.interval


def _score(row: BoardRow, board: Board) -> BenchmarkScore:
    """Return the headline; the lower limit of the best of several variants accounts for the choice."""
    chosen = row.best_of.interval if row.best_of is not None else row.interval
    low, high = chosen.get(board.headline, row.interval[board.headline])
    return BenchmarkScore(row.value(board.headline), Interval(low, high))


def _paired(ids: Mapping[str, str], board: Board, *, tested: PairwiseArrays) -> PairedVariances | None:
    """Return the variances of the differences of judges that were compared pair by pair. ``ids``: their entries."""
    known = {slug: name for slug, name in ids.items() if name in tested.entries}
    tests = tested.tests(list(known.values()), board.headline, spec=board.spec, grouping=board.grouping)
    if tests is None:
        return None
    variance = np.zeros((len(known), len(known)))
    variance[tests.first, tests.second] = variance[tests.second, tests.first] = tests.variance
    return PairedVariances(list(known), variance)
