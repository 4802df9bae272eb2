"""Histograms of the pairs: how many judges are right on them, and how much longer their preferred response is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from leaderboard.charts.base import Cells, Chart, ChartQuery, empty_chart
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.charts.layout import SMALL, ChartText, Page, finish, grid, plain
from leaderboard.site.colours import LIGHT
from vlrb.common.messages import _, joined
from vlrb.statistics.lengths import BESIDE, BIN
from vlrb.statistics.pairwise import BAND_JUDGES, BANDS

_BARS, _BETWEEN = 190, 80  # pixels


def difficulty_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return how many pairs there are in each tenth of the share of judges that are right."""
    counts = view.summary.get("difficulty")
    if not counts:
        return empty_chart(
            (
                _(
                    "Difficulty needs at least {most} judges with scores under labels {revision}, and labels that are "
                    "public. It is computed a little after scores.",
                    most=BAND_JUDGES,
                    revision=view.label_revision,
                ),
            )
        )
    step = 100 // BANDS
    words = ChartText(
        _("How many judges are right on a pair"),
        _(
            "Pairs by the share of judges that are right on them, in ten bands, over {judges} judges. "
            "Rule {rule}, labels {revision}.",
            judges=len(view.summary["entries"]),
            rule=view.spec.ranking,
            revision=view.label_revision,
        ),
        axis=_("Judges that are right on the pair, % (left is harder)"),
    )
    notes: tuple[str, ...] = (
        _(
            "All judges compared on the board, each by its best version; only pairs judged by at least {least}.",
            least=BAND_JUDGES,
        ),
    )
    if view.grouping != view.spec.official:
        notes += (_("This figure always follows the official categories."),)
    labels = [_("{low} to {high}", low=step * band, high=step * (band + 1)) for band in range(BANDS)]
    drawn = _histograms(
        counts, labels, {-0.5: "0", BANDS / 2 - 0.5: "50", BANDS - 0.5: "100"}, page=view.page, words=words
    )
    rows = _cells(counts, labels)
    return Chart(drawn, words, notes=notes, rows=rows, header=(_("category"), _("judges right, %"), _("pairs")))


def lengths_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the pairs by words of the preferred response less those of the other one: Figure 3 of the paper."""
    known = view.summary.get("lengths")
    if not known:
        text = _("This figure needs public labels and judges that were compared. It follows soon after scores.")
        return empty_chart((text,))
    words = ChartText(
        _("Is the preferred response longer?"),
        _(
            "Pairs by words of the response that people prefer less those of the other one. Labels {revision}.",
            revision=view.label_revision,
        ),
        axis=_("Difference in words (left of 0: the shorter response is preferred)"),
    )
    counts = {category: one["counts"] for category, one in known.items()}
    medians = [
        _(
            "{category}: median {words} words",
            category=view.page.title_of(category),
            words=f"{one['median']:g}".replace("-", "−"),
        )
        for category, one in known.items()
    ]
    near, last = BIN // 2, BIN * BESIDE - BIN // 2
    beside = [(low, low + BIN - 1) for low in range(near, last, BIN)]
    labels = [
        _("−{bin} or less", bin=last),
        *(_("{low} to {high}", low=f"−{high}", high=f"−{low}") for low, high in reversed(beside)),
        _("{low} to {high}", low=f"−{near - 1}", high=near - 1),
        *(_("{low} to {high}", low=low, high=high) for low, high in beside),
        _("{bin} or more", bin=last),
    ]
    ticks: dict[float, str] = {0: f"≤−{last}", BESIDE: "0", 2 * BESIDE: f"{last}+"}
    drawn = _histograms(counts, labels, ticks, page=view.page, words=words)
    header = (_("category"), _("difference, words"), _("pairs"))
    notes = (joined(medians, _("; ")),)
    return Chart(drawn, words, notes=notes, rows=_cells(counts, labels), header=header)


def _cells(counts: Mapping[str, Sequence[int]], labels: Sequence[str]) -> list[Cells]:
    return [
        (category, label, n) for category, of_one in counts.items() for label, n in zip(labels, of_one, strict=True)
    ]


def _histograms(
    counts: Mapping[str, Sequence[int]],
    labels: Sequence[str],
    ticks: Mapping[float, str],
    *,
    page: Page,
    words: ChartText,
) -> go.Figure:
    """Return a histogram per category on common axes that begin at zero; the count is on each bar. ``ticks``: texts
    by the number of a bar."""
    categories = [key for key in page.spec.category_keys if key in counts]
    titles = [
        f"<b><span style='color:{page.colour(key)}'>{plain(page.title_of(key))}</span></b>  "
        + SMALL.format(f"n {sum(counts[key])}")
        for key in categories
    ]
    figure, places, height = grid(titles, page, most=len(titles), tall=_BARS, between=_BETWEEN)
    for category, place in zip(categories, places, strict=True):
        values = counts[category]
        hovers = [page.text(_("{label}: {n} pairs", label=label, n=n)) for label, n in zip(labels, values, strict=True)]
        bars = go.Bar(
            y=values,
            width=0.9,
            marker_color=page.colour(category),
            text=[str(value) if value else "" for value in values],
            textposition="outside",
            textangle=0,
            textfont={"color": LIGHT.ink, "size": 12},
            cliponaxis=False,
            hovertext=hovers,
            hoverinfo="text",
        )
        figure.add_trace(bars, **place)
    most = max(max(values) for values in counts.values())
    figure.update_xaxes(range=[-0.5, len(labels) - 0.5], tickvals=list(ticks), ticktext=list(ticks.values()))
    figure.update_xaxes(showline=True, linecolor=LIGHT.ink)
    figure.update_yaxes(range=[0, 1.12 * most], showticklabels=False)
    finish(figure, page, words=words, height=height)
    return figure.update_layout(margin_l=14)  # half of the first tick's text is left of the axis
