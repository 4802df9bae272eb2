"""Public view of scores by the disclosure level of their labels (`benchmark.disclosure`). Pure.

Applied where the web process loads a snapshot or relations, and nowhere else: what is taken out here no page, route,
export, feed, badge or log can show. A tally is reduced to one line that says the overall to half a point, or to one a
category that says that, rounded, too. Sources, error tags, lengths, first votes and the K curve are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vlrb.behaviour import Behaviour
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.disclosure import PUBLIC, redact, rounded_scores
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import PairwiseArrays

_HIDDEN_PARTS = (
    "sources", "error_tags", "k_curve", "rerun", "calibration", "decided_accuracy", "tally", "half_right", "groupings",
)  # fmt: skip
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
            name: _without_labels(summary) if name in hidden else summary for name, summary in related.items()
        }
    return public


def without_counts(relations: PairwiseArrays) -> PairwiseArrays:
    """Return who was compared, and the agreement between judges, which needs no label."""
    return replace(relations, outcomes=None, bands=None)


def redact_entry(
    card: Mapping[str, Any], spec: BenchmarkSpec, *, shown: Mapping[str, Any], level: str
) -> dict[str, Any]:
    """Return a scorecard that was made of a redacted tally, without the parts that would only look like facts.
    ``shown``: `strict_as_shown` of the tally."""
    return {
        **{name: None if name in _HIDDEN_PARTS else value for name, value in card.items()},
        "protocols": {spec.ranking: dict(shown)},
        "behaviour": {name: card["behaviour"][name] for name in _LABEL_FREE},
        "disclosure": level,
    }


def entry_behaviour(entry: Mapping[str, Any], revision: str) -> Behaviour:
    """Return an entry's behaviour on the pairs of a label revision, as it was counted with them; where that is not
    shown, on all pairs of its file."""
    counted = entry["tallies"][revision].get("behaviour")
    return Behaviour.from_json(counted or {name: entry.get(name) for name in _OF_FILE})


def strict_as_shown(tally: Tally, level: str) -> dict[str, Any]:
    """Return the strict scores and intervals as a level that is not public tells them; None for all others."""
    known = rounded_scores(tally.counts, level, spec=tally.spec)
    nothing: dict[str, Any] = dict.fromkeys(tally.spec.overall_first)
    intervals = {name: [score.low, score.high] for name, score in known.items()}
    return {"interval": nothing | intervals, **nothing, **{name: score.share for name, score in known.items()}}


def _entry(entry: Mapping[str, Any], hidden: Mapping[str, str], *, spec: BenchmarkSpec) -> dict[str, Any]:
    tallies = {
        name: redact(Tally.from_json(tally, spec), hidden[name]).to_json() if name in hidden else tally
        for name, tally in entry["tallies"].items()
    }
    return {**entry, "tallies": tallies}


def _without_labels(related: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of relations needs no label. Paired tests tell more than rounded scores."""
    emptied: dict[str, Any] = {name: {} for name in ("ranges", "variants", "lengths", "self_preference")}
    return {**related, **emptied, "difficulty": None, "majority": None}


def _scored(snapshot: Mapping[str, Any]) -> set[str]:
    return {name for entry in snapshot["entries"] for name in entry["tallies"]}
