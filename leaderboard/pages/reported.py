"""Page of all published figures of a benchmark: which follow from its categories, and what arithmetic says of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.board.query import one_of
from leaderboard.board.reported_results import ReportedFigures, left_out
from leaderboard.cache import BoardVersion
from leaderboard.pages.reported_findings import report_findings
from leaderboard.render import render
from vlrb.common.messages import _
from vlrb.judges import judge_slug
from vlrb.numbers.reported import ADDS_UP, CONTRADICTS, EXCHANGED, OTHER_CATEGORIES, UNCHECKED, UNMATCHED

PATH = "/reported"
VERDICTS: Mapping[str, str] = {
    CONTRADICTS: _("does not add up"),
    UNMATCHED: _("no known categories"),
    EXCHANGED: _("columns exchanged"),
    OTHER_CATEGORIES: _("other categories"),
    ADDS_UP: _("adds up"),
    UNCHECKED: _("not checkable"),
}
"""What arithmetic says of a published result, in a word; the page sorts by it in this order."""
SORTS = ("verdict", "score", "judge", "date")


@dataclass(frozen=True, slots=True)
class ReportedView:
    """What a visitor asked for: one of VERDICTS ("" all), and one of SORTS."""

    verdict: str = ""
    sort: str = SORTS[0]

    def url(self, verdict: str | None = None, sort: str = "") -> str:
        """Return the address of the page with another choice."""
        pairs = (("verdict", self.verdict if verdict is None else verdict), ("sort", sort or self.sort))
        asked = "&".join(f"{name}={value}" for name, value in pairs if value and value != SORTS[0])
        return f"{PATH}?{asked}" if asked else PATH


def read_view(parameters: Mapping[str, str]) -> ReportedView:
    """Return the view of a query string. A value that means nothing is as good as none: a link never breaks."""
    return ReportedView(one_of(parameters, "verdict", VERDICTS), sort=one_of(parameters, "sort", SORTS) or SORTS[0])


def summary(published: Sequence[ReportedFigures]) -> Mapping[str, int]:
    """Return how many published results each of VERDICTS holds for."""
    counts = Counter(result.check.verdict for result in published)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def reported_page(board_version: BoardVersion, view: ReportedView) -> str:
    """Return the page."""
    published, spec = board_version.published, board_version.spec
    rows = [row for row in published if view.verdict in ("", row.check.verdict)]
    return render(
        board_version.context,
        "reported_all.html",
        current="",
        spec=spec,
        demo=spec.synthetic,
        view=view,
        verdicts=VERDICTS,
        counts=summary(published),
        total=len(published),
        rows=sorted(rows, key=lambda row: _order(row, view.sort)),
        findings=report_findings(published),
        left_out=left_out(spec),
        judge_slug=judge_slug,
        overall=lambda row: row.printed.get(_overall(row), ""),
    )


def _overall(row: ReportedFigures) -> str:
    """Return which overall to show of a result: the one that it states, where its benchmark has several."""
    return row.stated_overall if row.check.definition is not None else row.spec.pooled


def _order(row: ReportedFigures, sort: str) -> tuple[object, ...]:
    name = (row.name.casefold(), row.id)
    if sort == "judge":
        return name
    if sort == "date":
        return (tuple(-ord(letter) for letter in row.date or "0"), *name)
    stated = row.figures.get(_overall(row))
    highest = -stated if stated is not None else 1.0
    return (highest, *name) if sort == "score" else (list(VERDICTS).index(row.check.verdict), highest, *name)
