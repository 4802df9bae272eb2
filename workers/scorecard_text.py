"""Scorecard as text for a terminal, in its language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.command_line import columns as width_of
from common.command_line import translated
from common.messages import Message, _, joined, ngettext
from common.rounding import percent


def render(card: Mapping[str, Any]) -> str:
    """Return the scorecard (INTERFACES "Scorecard") as text; accuracies in percent."""
    columns = _columns(card)
    lines = [
        ngettext(
            "{benchmark}, labels {revision}: {items} items, {n} vote each",
            "{benchmark}, labels {revision}: {items} items, {n} votes each",
            card["votes_per_item"],
            benchmark=card["benchmark"],
            revision=card["label_revision"],
            items=card["items"],
        ),
        _(
            "decided {decided} %, parsed {parsed} %",
            decided=_percent(card["decided_rate"]),
            parsed=_percent(card["parse_rate"]),
        )
        + (_(", {missing_items} items missing", missing_items=card["missing_items"]) if card["missing_items"] else ""),
        "",
        _row("", columns),
    ]
    for protocol, scores in card["protocols"].items():
        lines.append(_row(protocol, [_percent(scores[column]) for column in columns]))
        if interval := scores.get("interval"):
            lines.append(_row("", [_interval(interval[column]) for column in columns]))
    lines += ["", _row(_("items"), (_("agree"), _("reject"), _("undecided"), _("of")))]
    lines += [_counts(name, cell) for name, cell in card["tally"].items()]
    lines += ["", *(_counts(name, cell) for name, cell in card["sources"].items())]
    if card["error_tags"] is not None:
        lines += ["", *(_counts(name, cell) for name, cell in card["error_tags"].items())]
    if card["votes_per_item"] > 1:
        *_others, name = card["k_curve"][0]  # the mean where there is one, else the pooled score
        curve = ", ".join(f"k={point['k']} {_percent(point[name])}" for point in card["k_curve"])
        lines += ["", _("strict {name} by votes drawn: {curve}", name=name, curve=curve)]
    return joined(lines, "\n")


def _columns(card: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the scores of a card: the overall numbers, then the categories."""
    scores = next(iter(card["protocols"].values()))
    overalls = (name for name in scores if name not in card["tally"] and name != "interval")
    return (*overalls, *card["tally"])


def _row(name: str, cells: Any) -> str:
    first, *others = (translated(cell) if isinstance(cell, Message) else str(cell) for cell in (name, *cells))
    return first + " " * (16 - width_of(first)) + "".join(" " * (15 - width_of(cell)) + cell for cell in others)


def _counts(name: str, cell: Mapping[str, int]) -> str:
    return _row(name, [cell["agree"], cell["reject"], cell["undecided"], cell["n"]])


def _percent(value: float | None) -> str:
    return "-" if value is None else percent(value)


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else _("{low} to {high}", low=_percent(ends[0]), high=_percent(ends[1]))
