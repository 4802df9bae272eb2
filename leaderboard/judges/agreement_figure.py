"""Figure of two benchmarks each: a point for each judge that both have. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.charts.base import Cells, Chart, empty_chart
from leaderboard.charts.dot_plots import reach_of
from leaderboard.charts.layout import ChartText, Page, hover_text
from leaderboard.charts.scatter_plots import Point2D, ScatterPanel, planes
from leaderboard.judges.agreement import BenchmarkAgreement
from leaderboard.judges.parameters import JudgesQuery
from vlrb.common.messages import _
from vlrb.common.rounding import percent

PATH = "/agreement"
LEAD = _(
    "Each point is a judge with the headline figure of both benchmarks: filled where both were scored here, "
    "hollow where one is reported. The number is Spearman’s rank correlation, with its 95% interval.",
)
_HEADER = (_("judge"), _("across"), _("value, %"), _("up"), _("value, %"))


def figure_url(asked: JudgesQuery, kind: str = "", *, narrow: bool = False) -> str:
    """Return the address of the page of a view, or of a file of its figure; ``narrow``: for a telephone."""
    address = asked.url(f"{PATH}.{kind}" if kind else PATH)
    return f"{address}{'&' if '?' in address else '?'}narrow=1" if narrow else address


def agreement_chart(results: Sequence[BenchmarkAgreement], page: Page) -> Chart:
    """Return the figure; none without a judge that two benchmarks have."""
    shown = [result for result in results if result.judges]
    if not shown:
        return empty_chart((_("No two benchmarks have a judge in common."),))
    words = ChartText(
        _("Do benchmarks agree on judges?"),
        LEAD,
        axis=_("Agreement with people, % (further right and further up is better)"),
    )
    rows: list[Cells] = [
        (judge.name, result.first.spec.title, 100 * judge.first, result.second.spec.title, 100 * judge.second)
        for result in shown
        for judge in result.judges
    ]
    panels = [_panel(result) for result in shown]
    return Chart(planes(panels, page, words=words), words, notes=(), rows=rows, header=_HEADER)


def _panel(result: BenchmarkAgreement) -> ScatterPanel:
    first, second = (board.spec.title for board in (result.first, result.second))
    spots = [
        Point2D(
            judge.name,
            100 * judge.first,
            y=100 * judge.second,
            hover=hover_text(judge.name, f"{first}: {percent(judge.first)}", f"{second}: {percent(judge.second)}"),
            hollow=judge.hollow,
            rank=at,
            link=f"judges/{judge.slug}",
        )
        for at, judge in enumerate(result.judges)
    ]
    found, numbers = result.correlation, f"n {len(result.judges)}"
    if found is not None:
        numbers = f"ρ {found.rho:.2f} ({found.interval.low:.2f} to {found.interval.high:.2f}), {numbers}"
    return ScatterPanel(
        spots,
        reach_of([spot.y for spot in spots]),
        across={"range": reach_of([spot.x for spot in spots])},
        title=_("Up: {title}", title=second),
        subtitle=numbers,
        under=f"{first}, %",
    )
