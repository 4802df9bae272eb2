"""Charts of biases: position, length, own family. Each is a difference that would be 0 without the bias. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from leaderboard.charts.base import Cells, Chart, ChartQuery, chosen_judges, empty_chart, rules, table
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate, Judge, SnapshotEntry, cell_estimates, difference
from leaderboard.charts.layout import ChartText
from vlrb.common.messages import _
from vlrb.statistics.position_bias import PositionBias
from vlrb.statistics.self_preference import SelfPreference, family_of

LENGTHS = ("longer", "shorter")


def position_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return what it changes for each judge whether the better response is shown first or second."""
    chosen, notes = chosen_judges(
        entries,
        view,
        suits=lambda judge: judge.behaviour.position_bias,
        otherwise=_("Not known, since the order is nearly always the same or the file does not state it: {names}."),
    )
    biases = [(judge, _in_points(bias)) for judge in chosen if (bias := judge.behaviour.position_bias)]
    words = ChartText(
        _("Position bias"),
        _(
            "Half of the difference between the accuracy where the better response is shown first and where it is "
            "shown second, with 95% intervals."
        ),
        axis=_("Position bias, points (0 is best; right: the response shown first is favoured)"),
    )
    return _chart(biases, view, words=words, notes=notes)


def length_estimates(judge: Judge, protocol: str) -> tuple[Estimate, Estimate] | None:
    """Return agreement where the preferred response has more words, and where it has fewer; None where either is
    empty."""
    longer, shorter = (cell_estimates(judge, LENGTHS, protocol=protocol)[name] for name in LENGTHS)
    return None if longer is None or shorter is None else (longer, shorter)


def length_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return agreement where the better response has more words, less agreement where it has fewer."""
    chosen, notes = chosen_judges(entries, view)
    known = [(judge, both) for judge in chosen if (both := length_estimates(judge, view.protocol)) is not None]
    notes += (_("Pairs of equally long responses are left out."),)
    words = ChartText(
        _("Length bias"),
        _(
            "Agreement with people where the response that they prefer has more words, less that where it has fewer, "
            "with 95% intervals. {rules}",
            rules=rules(view, False),
        ),
        axis=_("Length bias, points (0 is best; right: longer responses are favoured)"),
    )
    biases = [(judge, difference(*both)) for judge, both in known]
    of_kinds = [ChartLine(judge.name, dict(zip(LENGTHS, both, strict=True))) for judge, both in known]
    return _chart(biases, view, words=words, notes=notes, more=table(of_kinds, keys=LENGTHS))


def own_preference(entry: SnapshotEntry, known: Mapping[str, Any]) -> tuple[str, SelfPreference] | None:
    """Return the declared family of a judge, by its base model, and its preference; None where that is not known.

    ``known``: of a snapshot's summary, family -> entry -> fields.
    """
    family = family_of(entry.get("base_model") or "", list(known))
    fields = known.get(family, {}).get(entry["id"])
    return None if fields is None else (family, SelfPreference(*fields))


def self_preference_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return by how much more often each judge chooses the worse response of its family than all other judges do."""
    known = {entry["id"]: own_preference(entry, view.summary.get("self_preference", {})) for entry in entries}
    chosen, notes = chosen_judges(
        entries,
        view,
        suits=lambda judge: known[judge.id],
        otherwise=_(
            "Not known, since no base model is stated or its family wrote fewer than 30 worse responses: {names}."
        ),
    )
    caveat = _("Labels come from people and models with preferences of their own: this shows what sets a judge apart.")
    notes += (caveat,)
    found = [(judge, *one) for judge in chosen if (one := known[judge.id]) is not None]
    biases = [(judge, _in_points(preference)) for judge, _family, preference in found]
    families = {judge.id: family for judge, family, _preference in found}
    words = ChartText(
        _("Self-preference"),
        _(
            "Share of pairs on which the judge chooses the worse response, where its own family wrote that one alone, "
            "less the share of all other judges on these pairs, with exact 95% intervals."
        ),
        axis=_("Self-preference, points (0 is best; right: its own family is favoured)"),
    )
    return _chart(biases, view, words=words, notes=notes, families=families)


def _in_points(bias: PositionBias | SelfPreference) -> Estimate:
    return Estimate(100 * bias.value, bias.pairs, (100 * bias.low, 100 * bias.high))


def _chart(
    biases: Sequence[tuple[Judge, Estimate]],
    view: ChartQuery,
    *,
    words: ChartText,
    notes: tuple[str, ...],
    families: Mapping[str, str] = MappingProxyType({}),
    more: Sequence[Cells] = (),
) -> Chart:
    """Return differences around 0. ``families``: what stands beside judges, by id; ``more``: rows after the others."""
    if not biases:
        return empty_chart(notes)
    name = words.title
    lines = [
        ChartLine(judge.name, {name: bias}, small=families.get(judge.id, ""), link=f"entries/{judge.id}")
        for judge, bias in biases
    ]
    clear = sum(not one.bounds[0] <= 0 <= one.bounds[1] for _judge, one in biases if one.bounds)
    ends = [abs(end) for _judge, one in biases for end in (one.value, *(one.bounds or ()))]
    found = _("{bias}: significant for {n} of {judges}", bias=name, n=clear, judges=len(biases))
    words = replace(words, title=found, reach=min(100, max(10, -int(-(max(ends) + 2) // 5) * 5)))
    drawn = dots(lines, keys=(name,), page=view.page, words=words)
    rows = [(line.name, line.small or name, *row[2:]) for line in lines for row in table([line], keys=(name,))]
    return Chart(drawn, words, notes=notes, rows=[*rows, *more])
