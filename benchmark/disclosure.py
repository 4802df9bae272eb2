"""Disclosure levels of label sets: what of a judge's counts may be shown, and how exactly. Pure.

The one place that decides. `redact` is applied before anything public is made of a tally, so that pages, files, ranks
and digests are functions of what it leaves; the rest of this module says how these numbers are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.items import CATEGORIES, SOURCES
from benchmark.protocols import GROUPINGS, accuracies, ratios, scores
from benchmark.scoring import FIELDS, SLICES, Tally
from benchmark.uncertainty import wilson

PUBLIC, BY_CATEGORY, OVERALL_ONLY = "public", "categories", "overall"
LEVELS = (PUBLIC, BY_CATEGORY, OVERALL_ONLY)
"""Each shows less than the one before it."""
STEPS = 200
"""Of the overall where nothing else is shown: half a point."""
SCORES = ("overall", "macro", *CATEGORIES)
GROUPING = "official"
_LINES = tuple(SLICES.index(GROUPINGS[GROUPING][category][0]) for category in CATEGORIES)
"""The cell that holds a category's line. Under the official grouping each category adds up; under no other."""
_MAJORITY = tuple(FIELDS.index(name) for name in ("n", "agree", "reject", "undecided"))
_DIGITS = 3  # of a fraction: 0.1 point

Counts = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


_PARTS = (
    "counts, sources, error tags, the K curve, difficulty, length, other rules and groupings, and paired differences",
    "the macro average, the categories, rank ranges, and everything finer than half a point",
)
"""What is lost from each of the LEVELS to the next."""
_TOLD = {
    PUBLIC: "everything",
    BY_CATEGORY: "overall, macro and categories to 0.1 point",
    OVERALL_ONLY: "the overall alone, to half a point",
}


def readers_words(before: str, after: str) -> str:
    """Return what readers of the board lose or gain when its labels change from one level to another."""
    first, last = sorted((LEVELS.index(before), LEVELS.index(after)))
    if first == last:
        return f"Readers will see as much as now: {_TOLD[after]}."
    verb = "lose" if LEVELS.index(after) == last else "gain"
    return f"Readers will {verb} {'; '.join(_PARTS[first:last])}. They will see {_TOLD[after]}."


def shown_names(level: str) -> tuple[str, ...]:
    """Return the SCORES that a level shows."""
    return ("overall",) if level == OVERALL_ONLY else SCORES


def strictest(*levels: str) -> str:
    """Return the level that shows least; PUBLIC of none."""
    return max(levels, key=LEVELS.index, default=PUBLIC)


def merged(*stated: Mapping[str, str]) -> dict[str, str]:
    """Return label revision -> level; where several mappings name a revision, the one that shows least."""
    names = {name for one in stated for name in one}
    return {name: strictest(*(one[name] for one in stated if name in one)) for name in sorted(names)}


def redact(tally: Tally, level: str) -> Tally:
    """Return what a level leaves of a tally.

    ``categories``: one line a category, agree of n. Rounding to 0.1 point would hide no more, because categories have
    fewer than 1,000 items. ``overall``: one line in all, with the agreement that the half point stands for. Undecided
    and missing items need no label to be counted, so they stay.
    """
    if level == PUBLIC:
        return tally
    rows = _category_rows(tally.counts)
    if level == OVERALL_ONLY:
        rows = _rounded_row(rows.sum(axis=0))[np.newaxis]
    counts = np.zeros((len(SLICES), len(FIELDS)), dtype=np.int64)
    agreeing = np.zeros((len(SLICES), tally.k + 1), dtype=np.int64)
    for cell, (n, agree, reject, undecided) in zip(_LINES, rows.tolist(), strict=False):
        # First votes repeat the majority: their own counts would be a second look at the labels.
        counts[cell] = (n, agree, reject, undecided, agree, reject, undecided)
        agreeing[cell, [0, tally.k]] = (reject + undecided, agree)  # all votes alike: no curve
    return Tally(tally.k, counts, agreeing, has_tags=False)


def redact_counts(counts: Counts, level: str) -> Counts:
    """Return (entries, CELLS, FIELDS) for what compares entries by their categories: not finer than a level shows."""
    if level != OVERALL_ONLY:  # which keep the categories as they are
        return counts
    nobody = np.zeros((len(SLICES), 2), dtype=np.int64)
    rows = [redact(Tally(1, one, nobody, has_tags=False), level).counts for one in counts]
    return np.stack(rows) if rows else counts


def shown_shares(counts: Counts, level: str) -> FloatArray:
    """Return (entries, 5) as `benchmark.protocols.accuracies`, for what is noted of entries: NaN is not shown."""
    shares = accuracies(ratios(redact_counts(counts, level)))
    if level == OVERALL_ONLY:
        overall = half_points(shares[:, len(CATEGORIES)])
        shares = np.full_like(shares, np.nan)
        shares[:, len(CATEGORIES)] = overall
    return shares


def shown_scores(tally: Tally, level: str) -> dict[str, float | None]:
    """Return the strict SCORES as a level tells them: in full, to 0.1 point, or the overall alone to half a point."""
    values = scores(redact(tally, level))
    told: dict[str, float | None] = dict.fromkeys(SCORES)
    for name in shown_names(level):
        value: float | None = getattr(values, name)
        told[name] = value if value is None or level == PUBLIC else _told(value, level)
    return told


def _told(share: float, level: str) -> float:
    return float(half_points(np.asarray(share))) if level == OVERALL_ONLY else round(float(share), _DIGITS)


def half_points(shares: FloatArray) -> FloatArray:
    """Return fractions rounded to half a point, half up."""
    return np.asarray(np.floor(np.asarray(shares) * STEPS + 0.5 + 1e-9) / STEPS)


def overall_bounds(shares: FloatArray, n: Any) -> tuple[FloatArray, FloatArray]:
    """Return 95% bounds of overall accuracies that are known to half a point, in half points.

    Wilson's, of the ends of the half point, rounded outwards: they hold whatever the accuracy was before rounding.
    """
    half, total = 0.5 / STEPS, np.maximum(np.asarray(n, dtype=np.float64), 1)
    low = wilson(np.clip(np.asarray(shares) - half, 0, 1) * total, total).low
    high = wilson(np.clip(np.asarray(shares) + half, 0, 1) * total, total).high
    return np.floor(low * STEPS + 1e-9) / STEPS, np.ceil(high * STEPS - 1e-9) / STEPS


def _category_rows(counts: Counts) -> Counts:
    """(categories, 4): n, agree, reject, undecided."""
    sources = [[SOURCES.index(source) for source in GROUPINGS[GROUPING][category]] for category in CATEGORIES]
    return np.stack([counts[indices][:, _MAJORITY].sum(axis=0) for indices in sources])


def _rounded_row(row: Counts) -> Counts:
    """Return one line with the agreement that half a point stands for; a function of that, n, undecided and missing
    alone."""
    n, agree, reject, undecided = (int(value) for value in row)
    if not n:
        return row
    steps = (2 * STEPS * agree + n) // (2 * n)
    shown = min((2 * steps * n + STEPS) // (2 * STEPS), agree + reject)
    return np.array((n, shown, agree + reject - shown, undecided), dtype=np.int64)
