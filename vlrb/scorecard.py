"""Scorecard of a tally: all protocols and groupings, intervals, sources, tags, K curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from vlrb.behaviour import Behaviour
from vlrb.protocols import category_counts, counts_under, has_interval, has_unread_replies, protocols, ratios, scores
from vlrb.scoring import FIELDS, LENGTHS, Tally, length_index
from vlrb.statistics.reliability import k_curve, odd_votes, rerun_error
from vlrb.statistics.uncertainty import mover_macro, wilson

SCORER_VERSION = "2"
_COUNTS = ("n", "agree", "reject", "undecided", "half_right")
_SHOWN = ("first_shown_rate", "position_bias", "one_order", "self_consistency", "both_orders", "style")
_PLACES = [FIELDS.index(name) for name in _COUNTS]


def scorecard(tally: Tally, behaviour: Behaviour, *, benchmark: str, label_revision: str) -> dict[str, Any]:
    """Return all that is derived from one judge's counts. Accuracies and rates are fractions; None where nothing
    counts."""
    spec = tally.spec
    categories = category_counts(tally.counts, spec)
    by_category = {c: named_counts(row.tolist()) for c, row in zip(spec.category_keys, categories, strict=True)}
    n, agree, reject, undecided = categories.sum(axis=0)[:4].tolist()
    unread = has_unread_replies(behaviour.parse_rate, behaviour.first_shown_rate)
    groupings = {
        g: {p: score_row(tally, p, grouping=g, unread=unread) for p in protocols(spec)} for g in spec.groupings
    }
    judged = behaviour.to_json()
    cells = {
        "tally": by_category,
        "sources": {source: cell_counts(tally, source) for source in spec.shown_sources},
        "error_tags": _error_tags(tally, by_category),
    }
    return {
        "benchmark": benchmark,
        "label_revision": label_revision,
        "scorer_version": SCORER_VERSION,
        "items": n,
        "votes_per_item": tally.k,
        "decided_rate": (agree + reject) / max(agree + reject + undecided, 1),  # of the pairs that the file has
        "decided_accuracy": agree / (agree + reject) if agree + reject else None,
        "parse_rate": behaviour.parse_rate,
        "missing_items": n - agree - reject - undecided,
        "protocols": groupings[spec.official],
        "groupings": groupings,
        **{part: counts and {name: whole(one) for name, one in counts.items()} for part, counts in cells.items()},
        "half_right": {
            part: counts and {name: one["half_right"] for name, one in counts.items()} for part, counts in cells.items()
        },
        "k_curve": _k_curve(tally),
        "rerun": (error := rerun_error(category_counts(tally.agreeing, spec).sum(axis=0))) and asdict(error),
        "calibration": judged["calibration"],
        "behaviour": {
            **{name: judged[name] for name in _SHOWN},
            "both_votes_right": agree / n if tally.k == 2 else None,
            "preferred_response": {length: _with_accuracy(tally, length) for length in LENGTHS},
        },
    }


def score_row(tally: Tally, protocol: str, *, grouping: str, unread: bool = False) -> dict[str, Any]:
    """Return the scores under one protocol and grouping, with 95% intervals where the protocol counts whole items.

    ``unread``: the file has replies that the official pattern does not read.
    """
    tally = replace(tally, counts=counts_under(protocols(tally.spec)[protocol], tally.counts, unread=unread))
    row: dict[str, Any] = {**scores(tally, protocol, grouping=grouping)}
    if has_interval(protocol, tally.spec):
        row["interval"] = _intervals(tally, protocol, grouping=grouping)
    return row


def _intervals(tally: Tally, protocol: str, *, grouping: str) -> dict[str, list[float] | None]:
    spec = tally.spec
    counted = ratios(tally.counts, spec, protocol=protocol, grouping=grouping)
    rows = zip(*(counts.tolist() for counts in counted.independent), strict=True)
    pairs = dict(zip(spec.counted_names, rows, strict=True))
    result = {name: list(wilson(k, n)) if n else None for name, (k, n) in pairs.items()}
    for name in spec.score_names[len(pairs) :]:
        parts = [pairs[key] for key in spec.parts_of(name)]
        result[name] = list(mover_macro(parts)) if all(n for _, n in parts) else None
    return result


def cell_counts(tally: Tally, name: str) -> dict[str, int]:
    """Return n, agree, reject, undecided and those half right of a cell by name."""
    return named_counts(list(tally.cell(name).values()))


def named_counts(row: list[int]) -> dict[str, int]:
    """Return what a scorecard shows of a cell's or category's counts, by name."""
    return {name: row[place] for name, place in zip(_COUNTS, _PLACES, strict=True)}


def whole(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is counted by whole majorities alone."""
    return {name: value for name, value in counts.items() if name != "half_right"}


def share_right(counts: Mapping[str, int]) -> float | None:
    """Return the share right of a cell's counts, of which those half right count one half; None of nothing."""
    return (counts["agree"] + counts["half_right"] / 2) / counts["n"] if counts["n"] else None


def _with_accuracy(tally: Tally, cell: str) -> dict[str, Any]:
    counts = named_counts(tally.counts[length_index(cell, tally.spec)].tolist())
    return {**whole(counts), "accuracy": share_right(counts)}


def _error_tags(tally: Tally, by_category: dict[str, dict[str, int]]) -> dict[str, Any] | None:
    """Return an item counts in every tag that it carries; a category that carries none is a bucket of its own."""
    if not tally.has_tags:
        return None
    cells = {tag: cell_counts(tally, tag) for tag in tally.spec.tags}
    cells |= {key: by_category[key] for key in tally.spec.untagged}
    return {tag: {**counts, "error_rate": _error_rate(counts)} for tag, counts in cells.items()}


def _error_rate(counts: dict[str, int]) -> dict[str, float | None]:
    decided, right = counts["agree"] + counts["reject"], share_right(counts)
    return {
        "strict": None if right is None else 1 - right,
        "paper": counts["reject"] / decided if decided else None,
    }


def _k_curve(tally: Tally) -> list[dict[str, Any]]:
    """Return the expected strict accuracy when only k of the K votes are drawn, for odd k."""
    spec = tally.spec
    sizes = category_counts(tally.counts, spec)[:, 0]
    right = k_curve(category_counts(tally.agreeing, spec))
    curves = {spec.pooled: right.sum(axis=0) / sizes.sum()}
    if spec.mean is not None:
        places = spec.category_places(spec.mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            curves[spec.mean] = (right[places] / sizes[places, np.newaxis]).mean(axis=0)
    points = zip(*(values.tolist() for values in curves.values()), strict=True)
    return [
        {"k": k, **{name: value if value == value else None for name, value in zip(curves, point, strict=True)}}
        for k, point in zip(odd_votes(tally.k), points, strict=True)
    ]
