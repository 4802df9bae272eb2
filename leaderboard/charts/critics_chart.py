"""Chart of the critics of a benchmark's paper: what its base model gains by training. Never mixed with scored entries.

`paper_figures.json` of the definition holds them, with their source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from leaderboard.charts.base import WITH_SOURCE, Chart, ChartQuery, empty_chart, headline_name, table, to_chart
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate, SnapshotEntry, drawn_scores
from leaderboard.charts.layout import ChartText
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.common.rounding import one_decimal


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """What a paper prints of its base model and of the critics trained from it, in percent."""

    source: str
    critics: Mapping[str, Mapping[str, float]]  # name -> score -> percent; the base model first
    notes: Sequence[str]


@cache
def paper_figures(spec: BenchmarkSpec) -> PaperFigures | None:
    """Return the figures of a benchmark's paper; None where it has none."""
    content = spec.read("paper_figures.json")
    return None if content is None else PaperFigures(**json.loads(content))


def critic_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return the base model of the paper and its critics, by headline score and category, whoever is chosen."""
    printed, key = paper_figures(view.spec), view.spec.headline
    if printed is None:
        return empty_chart(())
    base, *trained = (values[key] for values in printed.critics.values())
    words = ChartText(
        _(
            "Trained as a critic, the paper’s base model gains up to {points} points of {score}",
            points=one_decimal(max(trained) - base),
            score=headline_name(view.spec),
        ),
        _("Share of pairs judged as people did, as printed: {source}.", source=_(printed.source)),
        axis=_("Agreement, % (right is better)"),
    )
    lines = [
        ChartLine(
            view.page.text(_(name)),
            {score: Estimate(value, 0) for score, value in values.items()},
            hollow=True,
            source=_(printed.source),
        )
        for name, values in printed.critics.items()
    ]
    keys = drawn_scores(view.spec)
    drawn = dots(lines, keys=keys, page=view.page, words=words)
    rows = table(lines, keys=keys, sources=True)
    return to_chart(drawn, words, notes=tuple(map(_, printed.notes)), rows=rows, header=WITH_SOURCE)
