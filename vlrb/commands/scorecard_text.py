"""Scorecard as text for a terminal, in its language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.command_line import columns as width_of
from vlrb.common.command_line import translated
from vlrb.common.messages import Message, _, joined, ngettext
from vlrb.common.rounding import percent
from vlrb.protocols import UNREAD_REPLIES, protocols

_NAME, _CELL = 16, 15  # columns of a terminal: the first, at least, and each of the others


def render(card: Mapping[str, Any], spec: BenchmarkSpec) -> str:
    """Return the scorecard (INTERFACES "Scorecard") as text; accuracies in percent."""
    columns, rules, missing = spec.overall_first, protocols(spec), card["missing_items"]
    lines: list[str] = [
        ngettext(
            "{title}, labels {revision}: {pairs:,} pairs, {n} vote each",
            "{title}, labels {revision}: {pairs:,} pairs, {n} votes each",
            card["votes_per_item"],
            title=_(spec.title),
            revision=card["label_revision"],
            pairs=card["items"],
        ),
        _(
            "readable {readable}%, answered {decided}%",
            readable=percent(card["parse_rate"]) or "-",
            decided=percent(card["decided_rate"]),
        )
        + (ngettext(", {n:,} pair missing", ", {n:,} pairs missing", missing) if missing else ""),
    ]
    wide = _first_width([spec.title_of(column) for column in columns])
    for protocol, scores in card["protocols"].items():
        rule, by_name = rules[protocol], scores.get("interval") or {}
        lines += ["", _("{rule}: {explanation}", rule=rule.title, explanation=_(rule.summary))]
        for column in columns:
            cells = (percent(scores[column]) or "-", _interval(by_name.get(column)))
            lines.append(_table_row(_(spec.title_of(column)), cells, first=wide))
    if any(rules[protocol].rereads and scores[columns[0]] is None for protocol, scores in card["protocols"].items()):
        lines.append(UNREAD_REPLIES)
    counted = (_("agree"), _("reject"), _("undecided"), _("of"))
    lines += ["", _table_row(_("pairs"), counted, first=wide), *_counts(card["tally"], spec.title_of)]
    if groups := card.get("groups"):
        lines += ["", _table_row(_("groups"), (_("right"), _("of")), first=wide)]
        held = ((_(spec.title_of(key)), f"{group['right']:g}", group["n"]) for key, group in groups.items())
        lines += [_table_row(name, cells, first=wide) for name, *cells in held]
    if card["sources"]:
        lines += ["", *_counts(card["sources"], str)]
    if card["error_tags"] is not None:
        lines += ["", *_counts(card["error_tags"], lambda tag: spec.tag_titles.get(tag) or spec.title_of(tag))]
    if card["votes_per_item"] > 1:
        *_others, name = card["k_curve"][0]  # the mean where there is one, else the pooled score
        curve = ", ".join(f"k={point['k']} {percent(point[name]) or '-'}" for point in card["k_curve"])
        lines += ["", _("strict {name} by votes drawn: {curve}", name=_(spec.name_of(name)), curve=curve)]
    return joined(lines, "\n")


def _table_row(name: str, cells: Iterable[object], *, first: int = _NAME) -> str:
    """Return a line of a table in the language of the terminal; `first` is the width of its first column."""
    start, *others = (translated(cell) if isinstance(cell, Message) else str(cell) for cell in (name, *cells))
    line = start + " " * (first - width_of(start)) + "".join(" " * (_CELL - width_of(cell)) + cell for cell in others)
    return line.rstrip()


def _first_width(names: Iterable[str]) -> int:
    """Return how wide the first column is for these names."""
    return max((_NAME, *(width_of(translated(_(name))) + 2 for name in names)))


def _counts(cells: Mapping[str, Mapping[str, int]], title: Callable[[str], str]) -> Iterator[str]:
    wide = _first_width(map(title, cells))
    for name, cell in cells.items():
        yield _table_row(_(title(name)), [cell["agree"], cell["reject"], cell["undecided"], cell["n"]], first=wide)


def _interval(ends: Sequence[float] | None) -> str:
    """Return an interval; nothing where there is none."""
    return "" if ends is None else _("{low} to {high}", low=percent(ends[0]), high=percent(ends[1]))
