"""All boards of a service at one moment, the judges on them, and those of them that a reader asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from leaderboard.judges.composite import JudgeComposite, composite_of
from leaderboard.judges.parameters import COMPOSITE, JudgesQuery, matching, read_judges_query
from leaderboard.judges.table import JudgeLine, judge_lines, sorted_lines
from leaderboard.ranking.rows import Board
from leaderboard.reported.findings import ReportedFinding, report_findings
from leaderboard.site.cache import BoardVersion, CachedResponse
from vlrb.statistics.pairwise import PairwiseArrays

Relations = Callable[[BoardVersion], PairwiseArrays | None]
"""The paired counts of a board; it blocks."""


@dataclass(frozen=True, slots=True)
class AllBoards:
    """The boards of all benchmarks, the first one first. ``relations``: of each. All but ``ready`` block."""

    versions: Sequence[BoardVersion]
    relations: Sequence[Relations] = ()

    @property
    def key(self) -> str:
        """The key of what is made of them: hiding an entry makes a version anew of the same snapshot."""
        return "/judges|" + "|".join(f"{version.snapshot_id}.{version.serial}" for version in self.versions)

    async def ready(self, address: str, make: Callable[[], CachedResponse]) -> CachedResponse:
        """Return what these boards have at an address, made once, beside the event loop."""
        return await self.versions[0].ready(f"{self.key}|{address}", make)

    @property
    def boards(self) -> list[Board]:
        """The boards under their usual rules."""
        return [version.board() for version in self.versions]

    @property
    def prefixes(self) -> dict[str, str]:
        """Benchmark -> what is before its addresses."""
        return {version.spec.id: version.context.prefix for version in self.versions}

    @property
    def lines(self) -> tuple[JudgeLine, ...]:
        """All judges; they are read once for each version of the boards."""
        lines: tuple[JudgeLine, ...] = self.versions[0].drawn(self.key, lambda: judge_lines(self.boards))
        return lines

    @property
    def composites(self) -> Mapping[str, JudgeComposite]:
        """The composites of all judges that have one, by slug."""
        read = zip(self.versions, self.relations, strict=False)
        tested = {version.spec.id: counts for version, of in read if (counts := of(version)) is not None}
        return composite_of(self.lines, list(self.prefixes), tested=tested)

    @property
    def findings(self) -> dict[str, ReportedFinding]:
        """What arithmetic says of all reported results, by their ids."""
        found: dict[str, ReportedFinding] = {}
        for version in self.versions:
            found |= version.drawn("findings", partial(report_findings, version.published))
        return found

    def read(self, parameters: Mapping[str, str]) -> JudgesQuery:
        """Return the view of a query string."""
        return read_judges_query(parameters, list(self.prefixes))

    def find(self, slug: str) -> JudgeLine | None:
        """Return a judge; None if there is none."""
        return next((line for line in self.lines if line.slug == slug), None)

    def select(self, asked: JudgesQuery, composites: Mapping[str, JudgeComposite]) -> list[JudgeLine]:
        """Return all judges that were asked for, in their order."""
        lines = matching(self.lines, asked)
        if asked.sort != COMPOSITE:
            return sorted_lines(lines, self.boards, sort=asked.sort, descending=asked.descending)
        sign = -1 if asked.descending else 1
        return sorted(
            lines, key=lambda line: sign * composites[line.slug].composite.value if line.slug in composites else 2.0
        )
