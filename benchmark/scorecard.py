"""Scorecard of a tally: all protocols and groupings, intervals, sources, tags, K curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark.items import CATEGORIES, SOURCES, UNTAGGED_CATEGORY
from benchmark.labels import TAGS
from benchmark.protocols import GROUPINGS, PROTOCOLS, category_counts, ratios, scores
from benchmark.reliability import k_curve
from benchmark.scoring import LENGTHS, SLICES, Tally
from benchmark.uncertainty import mover_macro, wilson
from benchmark.votes import Behaviour

SCORER_VERSION = "1"
_COUNTS = ("n", "agree", "reject", "undecided")

Json = dict[str, Any]


def scorecard(tally: Tally, behaviour: Behaviour, *, benchmark: str, label_revision: str) -> Json:
    """Return all that is derived from one judge's counts. Accuracies and rates are fractions; None where nothing
    counts."""
    categories = category_counts(tally.counts)
    by_category = {c: _counts(row.tolist()) for c, row in zip(CATEGORIES, categories, strict=True)}
    n, agree, reject, undecided = categories.sum(axis=0)[: len(_COUNTS)].tolist()
    groupings = {g: {p: score_row(tally, p, g) for p in PROTOCOLS} for g in GROUPINGS}
    return {
        "benchmark": benchmark,
        "label_revision": label_revision,
        "scorer_version": SCORER_VERSION,
        "items": n,
        "votes_per_item": tally.k,
        "decided_rate": (agree + reject) / n,
        "parse_rate": behaviour.parse_rate,
        "missing_items": n - agree - reject - undecided,
        "tally": by_category,
        "protocols": groupings["official"],
        "groupings": groupings,
        "sources": {source: _counts(tally.counts[SLICES.index(source)].tolist()) for source in SOURCES},
        "error_tags": _error_tags(tally, by_category[UNTAGGED_CATEGORY]),
        "k_curve": _k_curve(tally),
        "behaviour": {
            "first_shown_rate": behaviour.first_shown_rate,
            "self_consistency": behaviour.self_consistency,
            "preferred_response": {length: _with_accuracy(tally, length) for length in LENGTHS},
        },
    }


def score_row(tally: Tally, protocol: str, grouping: str) -> Json:
    """Return the scores under one protocol and grouping, with 95% intervals where the protocol counts whole items."""
    values = scores(tally, protocol, grouping)
    row: Json = {name: getattr(values, name) for name in (*CATEGORIES, "overall", "macro")}
    if PROTOCOLS[protocol].has_interval:
        row["interval"] = _intervals(tally, protocol, grouping)
    return row


def _intervals(tally: Tally, protocol: str, grouping: str) -> dict[str, list[float] | None]:
    counted = ratios(tally.counts, protocol, grouping)
    pairs = list(zip(counted.right.tolist(), counted.total.tolist(), strict=True))
    names = (*CATEGORIES, "overall")
    found = {name: list(wilson(k, n)) if n else None for name, (k, n) in zip(names, pairs, strict=True)}
    complete = all(n for _, n in pairs[: len(CATEGORIES)])
    return {**found, "macro": list(mover_macro(pairs[: len(CATEGORIES)])) if complete else None}


def _counts(row: list[int]) -> dict[str, int]:
    return dict(zip(_COUNTS, row[: len(_COUNTS)], strict=True))


def _with_accuracy(tally: Tally, cell: str) -> Json:
    counts = _counts(tally.counts[SLICES.index(cell)].tolist())
    return {**counts, "accuracy": counts["agree"] / counts["n"] if counts["n"] else None}


def _error_tags(tally: Tally, reasoning: dict[str, int]) -> Json | None:
    """Return an item counts in every tag that it carries; reasoning, which carries none, is the sixth bucket."""
    if not tally.has_tags:
        return None
    cells = {tag: _counts(tally.counts[SLICES.index(tag)].tolist()) for tag in TAGS} | {UNTAGGED_CATEGORY: reasoning}
    return {tag: {**counts, "error_rate": _error_rate(counts)} for tag, counts in cells.items()}


def _error_rate(counts: dict[str, int]) -> dict[str, float | None]:
    decided = counts["agree"] + counts["reject"]
    return {
        "strict": 1 - counts["agree"] / counts["n"] if counts["n"] else None,
        "paper": counts["reject"] / decided if decided else None,
    }


def _k_curve(tally: Tally) -> list[Json]:
    """Return the expected strict accuracy when only k of the K votes are drawn."""
    sizes = category_counts(tally.counts)[:, 0]
    right = k_curve(category_counts(tally.agreeing))
    with np.errstate(invalid="ignore", divide="ignore"):
        macro = (right / sizes[:, np.newaxis]).mean(axis=0)
    overall = right.sum(axis=0) / sizes.sum()
    points = zip(overall.tolist(), macro.tolist(), strict=True)
    return [{"k": k, "overall": o, "macro": m if m == m else None} for k, (o, m) in enumerate(points, start=1)]
