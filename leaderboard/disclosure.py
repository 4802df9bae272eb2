"""What the public may see of label sets that are not public: three categories, and what needs no label. Pure.

Applied where the web process loads a snapshot or relations, and nowhere else: what is taken out here no page, route,
export, feed, badge or log can show. A tally is reduced to one line a category: agree of n. Rounding to 0.1 point would
hide no more, because categories have fewer than 1,000 items; sources, error tags, lengths, first votes and the K curve
are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from benchmark.items import CATEGORIES, SOURCES
from benchmark.protocols import GROUPINGS, PROTOCOLS
from benchmark.relations import Relations
from benchmark.scoring import CELLS, FIELDS, Tally
from benchmark.uncertainty import Z

GROUPING = "official"
PROTOCOL = PROTOCOLS[0]
_CELLS = tuple(GROUPINGS[GROUPING][category][0] for category in CATEGORIES)
"""The cell that holds a category's line. Under the official grouping each category adds up; under no other."""
_SHOWN = ("interval", "overall", "macro", *CATEGORIES)
_HIDDEN_PARTS = ("sources", "error_tags", "k_curve", "tally", "groupings")
_LABEL_FREE = ("first_shown_rate", "self_consistency")


def disclosed(snapshot: Mapping[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    """A snapshot without what depends on single labels of the hidden revisions, which it then names."""
    shown = {name: value for name, value in snapshot.items() if name != "nonce"}  # that of the id; nobody needs it
    concerned = sorted(hidden.intersection(snapshot["label_revisions"]) | hidden.intersection(_scored(snapshot)))
    shown["hidden_revisions"] = concerned
    if concerned:
        shown["entries"] = [_entry(entry, hidden) for entry in snapshot["entries"]]
        shown["baselines"] = [
            {**one, "tallies": {name: tally for name, tally in one["tallies"].items() if name not in hidden}}
            for one in snapshot.get("baselines", ())
        ]
        related = snapshot.get("relations") or {}
        shown["relations"] = {name: _summary(one) if name in hidden else one for name, one in related.items()}
    return shown


def without_counts(relations: Relations) -> Relations:
    """Who was compared, and the agreement between judges, which needs no label."""
    return replace(relations, right=None, only_right=None, bands=None)


def coarse(data: Mapping[str, Any]) -> dict[str, Any]:
    """A stored tally with one line a category. Undecided items need no label to be counted, so they stay."""
    whole = Tally.from_json(data)
    counts = np.zeros((len(CELLS), len(FIELDS)), dtype=np.int64)
    agreeing = np.zeros((len(CELLS), whole.k + 1), dtype=np.int64)
    majority = [FIELDS.index(name) for name in ("n", "agree", "reject", "undecided")]
    for category, cell in zip(CATEGORIES, _CELLS, strict=True):
        sources = [SOURCES.index(source) for source in GROUPINGS[GROUPING][category]]
        n, agree, reject, undecided = (int(whole.counts[sources, index].sum()) for index in majority)
        # First votes repeat the majority: their own counts would be a second look at the labels.
        counts[CELLS.index(cell)] = (n, agree, reject, undecided, agree, reject, undecided)
        agreeing[CELLS.index(cell), [0, whole.k]] = (reject + undecided, agree)  # all votes alike: no curve
    return Tally(whole.k, counts, agreeing, has_tags=False).to_json()


def reduced(card: Mapping[str, Any]) -> dict[str, Any]:
    """A scorecard that was made of a coarse tally, without the parts that would only look like facts."""
    strict = card["protocols"][PROTOCOL]
    said = {name: rounded(strict[name]) for name in _SHOWN if name in strict}
    return {
        **{name: None if name in _HIDDEN_PARTS else value for name, value in card.items()},
        "protocols": {PROTOCOL: said},
        "behaviour": {name: card["behaviour"][name] for name in _LABEL_FREE},
        "disclosure": "hidden",
    }


def _entry(entry: Mapping[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    tallies = {name: coarse(tally) if name in hidden else tally for name, tally in entry["tallies"].items()}
    return {**entry, "tallies": tallies}


def _summary(related: Mapping[str, Any]) -> dict[str, Any]:
    """The worker leaves out as much where it knows that labels are not public; it may have been told later."""
    ranges = {name: one for name, one in (related.get("ranges") or {}).items() if name == GROUPING}
    variants = {name: _variants(one) for name, one in (related.get("variants") or {}).items()}
    return {**related, "ranges": ranges, "variants": variants, "difficulty": None, "majority": None}


def _variants(one: Mapping[str, Any]) -> dict[str, Any]:
    """How many there are, and what luck adds: to 0.1 point, as a judge's accuracies are."""
    orders = {name: [round(gain, 3), z if z == Z else ceil(10 * z) / 10] for name, (gain, z) in one[GROUPING].items()}
    return {"variants": one["variants"], GROUPING: orders}


def _scored(snapshot: Mapping[str, Any]) -> set[str]:
    return {name for entry in snapshot["entries"] for name in entry["tallies"]}


def rounded(value: Any) -> Any:
    """Fractions to 0.1 point."""
    if isinstance(value, Mapping):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return round(value, 3) if isinstance(value, float) else value
