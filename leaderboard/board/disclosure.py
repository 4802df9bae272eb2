"""Public view of scores by the disclosure level of their labels (`benchmark.disclosure`). Pure.

Applied where the web process loads a snapshot or relations, and nowhere else: what is taken out here no page, route,
export, feed, badge or log can show. A tally is reduced to one line a category: agree of n; where only the overall may
be shown, to one line that says it to half a point. Sources, error tags, lengths, first votes and the K curve are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from vlrb.behaviour import Behaviour
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.disclosure import (
    BY_CATEGORY,
    OVERALL_ONLY,
    PUBLIC,
    half_points,
    overall_bounds,
    redact,
)
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import PairwiseArrays
from vlrb.statistics.uncertainty import Z

_HIDDEN_PARTS = ("sources", "error_tags", "k_curve", "tally", "groupings")
_LABEL_FREE = ("first_shown_rate", "self_consistency")
_OF_FILE = ("parse_rate", *_LABEL_FREE)


def redact_snapshot(snapshot: Mapping[str, Any], levels: Mapping[str, str], *, spec: BenchmarkSpec) -> dict[str, Any]:
    """Return a snapshot without what the levels of its label revisions do not show; it names those not public.

    ``levels``: label revision -> level; a revision that is not named is public.
    """
    hidden = {name: level for name, level in levels.items() if level != PUBLIC}
    public = {name: value for name, value in snapshot.items() if name != "nonce"}  # that of the id; nobody needs it
    concerned = hidden.keys() & {*snapshot["label_revisions"], *_scored(snapshot)}
    public["disclosure"] = {name: hidden[name] for name in sorted(concerned)}
    if concerned:
        public["entries"] = [_entry(entry, hidden, spec=spec) for entry in snapshot["entries"]]
        public["baselines"] = [
            {**baseline, "tallies": {name: tally for name, tally in baseline["tallies"].items() if name not in hidden}}
            for baseline in snapshot.get("baselines", ())
        ]
        related = snapshot.get("relations") or {}
        public["relations"] = {
            name: _summary(summary, hidden[name], grouping=spec.official) if name in hidden else summary
            for name, summary in related.items()
        }
    return public


def without_counts(relations: PairwiseArrays) -> PairwiseArrays:
    """Return who was compared, and the agreement between judges, which needs no label."""
    return replace(relations, right=None, both=None, bands=None)


def category_level_only(data: Mapping[str, Any], spec: BenchmarkSpec, *, level: str = BY_CATEGORY) -> dict[str, Any]:
    """Return a stored tally as a level leaves it."""
    return redact(Tally.from_json(data, spec), level).to_json()


def redact_entry(card: Mapping[str, Any], spec: BenchmarkSpec, *, level: str = BY_CATEGORY) -> dict[str, Any]:
    """Return a scorecard that was made of a redacted tally, without the parts that would only look like facts."""
    return {
        **{name: None if name in _HIDDEN_PARTS else value for name, value in card.items()},
        "protocols": {spec.ranking: shown_strict(card, level, spec=spec)},
        "behaviour": {name: card["behaviour"][name] for name in _LABEL_FREE},
        "disclosure": level,
    }


def entry_behaviour(entry: Mapping[str, Any], revision: str) -> Behaviour:
    """Return an entry's behaviour on the pairs of a label revision, as it was counted with them; where that is not
    shown, on all pairs of its file."""
    counted = entry["tallies"][revision].get("behaviour")
    return Behaviour.from_json(counted or {name: entry.get(name) for name in _OF_FILE})


def shown_strict(card: Mapping[str, Any], level: str, *, spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the strict scores and intervals as a level tells them; ``card`` was made of a redacted tally."""
    strict = card["protocols"][spec.ranking]
    names, pooled = spec.overall_first, spec.pooled
    if level != OVERALL_ONLY:
        return {name: rounded(strict[name]) for name in ("interval", *names) if name in strict}
    overall = None if strict[pooled] is None else half_points(np.array(strict[pooled])).item()
    bounds = (
        None
        if overall is None
        else [overall_bound.item() for overall_bound in overall_bounds(np.array(overall), card["items"])]
    )
    shares = dict.fromkeys(names) | {pooled: overall}
    return {"interval": dict.fromkeys(names) | {pooled: rounded(bounds)}, **rounded(shares)}


def _entry(entry: Mapping[str, Any], hidden: Mapping[str, str], *, spec: BenchmarkSpec) -> dict[str, Any]:
    tallies = {
        name: category_level_only(tally, spec, level=hidden[name]) if name in hidden else tally
        for name, tally in entry["tallies"].items()
    }
    return {**entry, "tallies": tallies}


def _summary(related: Mapping[str, Any], level: str, *, grouping: str) -> dict[str, Any]:
    """Return ranges and variants that a level allows. The worker withholds the same, unless a set was hidden later."""
    named = (grouping,) if level == BY_CATEGORY else ()  # paired tests tell more than rounded overalls
    ranges = {name: rank_range for name, rank_range in (related.get("ranges") or {}).items() if name in named}
    variants = {name: _variants(choice, grouping) for name, choice in (related.get("variants") or {}).items() if named}
    return {**related, "ranges": ranges, "variants": variants, "difficulty": None, "majority": None}


def _variants(choice: Mapping[str, Any], grouping: str) -> dict[str, Any]:
    """Return how many there are, and what luck adds: to 0.1 point, as a judge's accuracies are."""
    orders = {
        name: [round(gain, 3), z if z == Z else ceil(10 * z) / 10] for name, (gain, z) in choice[grouping].items()
    }
    return {"variants": choice["variants"], grouping: orders}


def _scored(snapshot: Mapping[str, Any]) -> set[str]:
    return {name for entry in snapshot["entries"] for name in entry["tallies"]}


def rounded(value: Any) -> Any:
    """Fractions to 0.1 point."""
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value
