"""Chart of self-preference: whether judges choose worse responses of their own family more often. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.charts.base import HEADER, Cells, Chart, ChartQuery, chosen_judges, empty_chart, to_chart
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate, SnapshotEntry, display_name
from leaderboard.charts.layout import ChartText, isolated
from vlrb.common.messages import _, joined
from vlrb.statistics.self_preference import SelfPreference, family_of


def own_preference(entry: SnapshotEntry, known: Mapping[str, Any]) -> tuple[str, SelfPreference] | None:
    """Return the declared family of a judge, by its base model, and its preference; None where that is not known.

    ``known``: of a snapshot's summary, family -> entry -> fields.
    """
    family = family_of(entry.get("base_model") or "", list(known))
    fields = known.get(family, {}).get(entry["id"])
    return None if fields is None else (family, SelfPreference(*fields))


def self_preference_chart(entries: Sequence[SnapshotEntry], view: ChartQuery) -> Chart:
    """Return by how much more often each judge chooses the worse response of its family than all other judges do."""
    judges, others = chosen_judges(entries, view)
    by_id = {entry["id"]: entry for entry in entries}
    entries = [by_id[judge.id] for judge in judges]
    found = {entry["id"]: own_preference(entry, view.around.self_preference) for entry in entries}
    caveat = _("Labels come from people and models with preferences of their own: this shows what sets a judge apart.")
    notes = (*others, caveat)
    if silent := [display_name(entry) for entry in entries if found[entry["id"]] is None]:
        reason = _(
            "Not known, since no base model is stated or its family wrote fewer than 30 worse responses: {names}.",
            names=joined(map(isolated, silent)),
        )
        notes += (reason,)
    lines: list[ChartLine] = []
    rows: list[Cells] = []
    for entry in entries:
        if (known := found[entry["id"]]) is not None:
            (family, one), name = known, display_name(entry)
            estimate = Estimate(100 * one.value, 100 * one.low, high=100 * one.high, n=one.pairs)
            lines.append(ChartLine(name, {"own": estimate}, small=family))
            rows.append((name, family, estimate.value, estimate.low, estimate.high, estimate.n))
    if not lines:
        return empty_chart(notes)
    ends = [
        abs(end) for line in lines for one in [line.estimates["own"]] if one for end in (one.low or 0, one.high or 0)
    ]
    reach = min(100, max(10, -int(-(max(ends) + 2) // 5) * 5))
    words = ChartText(
        _("Do judges prefer what their own family wrote?"),
        _(
            "Share of pairs on which the judge chooses the worse response, where its own family wrote that one alone, "
            "less the share of all other judges on these pairs, with exact 95% intervals."
        ),
        axis=_("Self-preference, points (0 is best; right: its own family is favoured)"),
        start=-reach,
        end=reach,
        centre=0,
    )
    drawn = dots(lines, keys=("own",), page=view.page, words=words, titles={"own": _("Self-preference")})
    return to_chart(drawn, words, notes=notes, rows=rows, header=HEADER)
