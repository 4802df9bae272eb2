"""Chart of how hard the pairs are: how many judges are right on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from leaderboard.charts.base import Chart, ChartQuery, empty_chart, to_chart
from leaderboard.charts.estimates import SnapshotEntry
from leaderboard.charts.layout import SMALL, ChartText, Page, finish, plain
from leaderboard.colours import LIGHT
from vlrb.common.messages import _
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
    rows = [
        (category, label, n) for category, of_one in counts.items() for label, n in zip(labels, of_one, strict=True)
    ]
    drawn = _histograms(counts, labels, page=view.page, words=words)
    return to_chart(drawn, words, notes=notes, rows=rows, header=(_("category"), _("judges right, %"), _("pairs")))


def _histograms(
    counts: Mapping[str, Sequence[int]], labels: Sequence[str], *, page: Page, words: ChartText
) -> go.Figure:
    """Return a histogram per category on common axes that begin at zero; the count is on each bar."""
    categories = [key for key in page.spec.category_keys if key in counts]
    rows = len(categories) if page.narrow else 1
    height = rows * _BARS + (rows - 1) * _BETWEEN
    titles = [
        f"<b><span style='color:{page.colour(key)}'>{plain(page.title_of(key))}</span></b>  "
        + SMALL.format(f"n {sum(counts[key])}")
        for key in categories
    ]
    figure = go.Figure().set_subplots(
        rows,
        len(categories) // rows,
        subplot_titles=titles,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=_BETWEEN / height if rows > 1 else 0,
    )
    figure.update_annotations(font_size=13)
    for at, category in enumerate(categories):
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
        figure.add_trace(bars, row=at + 1 if page.narrow else 1, col=1 if page.narrow else at + 1)
    most = max(max(values) for values in counts.values())
    ends = [-0.5, BANDS / 2 - 0.5, BANDS - 0.5]
    figure.update_xaxes(range=[ends[0], ends[-1]], tickvals=ends, ticktext=["0", "50", "100"])
    figure.update_xaxes(showline=True, linecolor=LIGHT.ink)
    figure.update_yaxes(range=[0, 1.12 * most], showticklabels=False)
    return finish(figure, page, words=words, height=height)
