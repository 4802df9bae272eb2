"""Chart of error tags: a row a tag, the most harmful first, and the judges chosen side by side on one axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import plotly.graph_objects as go

from leaderboard.charts.base import MOST_LINES, Chart, ChartQuery, chosen_judges, empty_chart, rules, table
from leaderboard.charts.dot_plots import ChartLine, reach_of
from leaderboard.charts.estimates import Judge, SnapshotEntry, bucket_estimates
from leaderboard.charts.layout import (
    SMALL,
    ChartText,
    Page,
    estimate_marks,
    finish,
    hover_of,
    pairs_text,
    plain,
    with_legend,
)
from leaderboard.ranking.findings import tag_finding
from leaderboard.site.colours import JUDGES, LIGHT
from vlrb.common.messages import Message, _

_DOT, _BETWEEN = 13, 22  # pixels: from a judge to the next one of a tag, from a tag to the next
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


def tag_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the error rate on the pairs of each error tag, and on the categories whose pairs carry none."""
    chosen, notes = chosen_judges(
        entries,
        view,
        most=MOST_LINES,
        suits=lambda judge: judge.tally.has_tags,
        otherwise=_("These labels carry no error tags. Another label revision may have them."),
    )
    lines = [
        ChartLine(judge.name, bucket_estimates(judge, view.protocol), link=f"entries/{judge.id}") for judge in chosen
    ]
    if not any(cell for line in lines for cell in line.estimates.values()):
        return empty_chart(notes)
    keys = [*_by_harm(lines, view.spec.tags), *view.spec.untagged]
    words = ChartText(
        _finding(chosen, view),
        _(
            "Share of pairs judged wrongly, by the kind of error in them, the most harmful first, with 95% intervals. "
            "A click on a judge hides it. {rules}",
            rules=rules(view, False),
        ),
        axis=_("Error rate, % (left is better)"),
    )
    notes += (_("A pair counts under every tag it carries. Pairs without a tag stand below, by category."),)
    drawn = _rows_of_tags(lines, keys, page=view.page, words=words)
    return Chart(drawn, words, notes=notes, rows=table(lines, keys=keys))


def _by_harm(lines: Sequence[ChartLine], tags: Sequence[str]) -> list[str]:
    """Return the tags by their mean error rate, highest first."""
    values = {tag: [cell.value for line in lines if (cell := line.estimates.get(tag)) is not None] for tag in tags}
    return sorted(tags, key=lambda tag: fmean(values[tag] or [-1.0]), reverse=True)


def _finding(chosen: Sequence[Judge], view: ChartQuery) -> str:
    """Return which kind of error hurts most judges, tested for each against its other tagged pairs (Holm)."""
    if view.protocol != view.spec.ranking:
        return _("Error rate by kind of error")
    findings = [finding for judge in chosen if (finding := tag_finding(judge.tally)) is not None]
    harmful = Counter(tag for finding in findings for tag in finding.harmful)
    if not harmful:
        return _("No kind of error hurts these judges significantly more than others")
    tag, count = harmful.most_common(1)[0]
    return _(
        "“{tag}” errors hurt {n} of {judges} judges significantly more than their other errors (Holm)",
        tag=Message(view.spec.tag_titles.get(tag, tag), {}),
        n=count,
        judges=len(chosen),
    )


def _rows_of_tags(lines: Sequence[ChartLine], keys: Sequence[str], *, page: Page, words: ChartText) -> go.Figure:
    """Return a figure with a row per tag; the legend hides and shows judges."""
    figure, count = go.Figure(), len(lines)
    titles = {key: page.text(page.spec.tag_titles.get(key, page.title_of(key))) for key in keys}
    for index, (line, colour, symbol) in enumerate(zip(lines, JUDGES, _SYMBOLS, strict=False)):
        at = [place for place, key in enumerate(keys) if line.estimates.get(key) is not None]
        cells = [cell for place in at if (cell := line.estimates[keys[place]]) is not None]
        marks = estimate_marks(
            cells,
            [place + (index - (count - 1) / 2) * _DOT / (_DOT * count + _BETWEEN) for place in at],
            colour=colour,
            symbol=symbol,
            hovers=[
                hover_of(page, line.name, group=titles[keys[place]], estimate=cell)
                for place, cell in zip(at, cells, strict=True)
            ],
        )
        figure.add_trace(marks.update(name=page.name(line.name), customdata=[line.link] * len(at)))
    every = [cell for line in lines for cell in line.estimates.values() if cell is not None]
    chance = 100 - page.chance(page.spec.pooled)
    figure.add_vline(
        x=chance,
        line={"color": LIGHT.chance, "width": 1},
        annotation={"text": page.text(_("chance")), "font_size": 12, "xanchor": "right", "yanchor": "bottom", "y": 1},
    )
    ends = reach_of([end for cell in every for end in (cell.value, *(cell.bounds or ()))], chance)
    figure.update_xaxes(range=ends, nticks=6)
    sizes = [SMALL.format(pairs_text([line.estimates.get(key) for line in lines])) for key in keys]
    between = "<br>" if page.narrow else "  "
    names = [f"<b>{plain(titles[key])}</b>{between}{size}" for key, size in zip(keys, sizes, strict=True)]
    figure.update_yaxes(range=[len(keys) - 0.5, -0.5], tickvals=list(range(len(keys))), ticktext=names)
    legend = 24 * (count if page.narrow else -(-count // 3))
    words = replace(words, axis=with_legend(words.axis, every))
    height = len(keys) * (_DOT * count + _BETWEEN)
    finish(figure, page, words=words, height=height, above=legend + 30)
    figure.update_layout(
        showlegend=True, legend={"orientation": "h", "x": 0, "y": 1 + 18 / height, "yanchor": "bottom"}
    )
    figure.layout.legend.update(font_color=LIGHT.ink, itemsizing="constant")
    figure.update_yaxes(tickfont_color=LIGHT.ink, showgrid=True, gridcolor=LIGHT.line, gridwidth=1)
    return figure
