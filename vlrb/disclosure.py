"""Disclosure levels of label sets: what of a judge's counts may be shown, and how exactly. Pure.

The one place that decides. `redact` is applied before anything public is made of a tally, so that pages, files, ranks
and digests are functions of what it leaves; the rest of this module formats these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vlrb.arrays import FloatArray, IntArray
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.protocols import category_counts, scores
from vlrb.scoring import FIELDS, Tally, fields, slices
from vlrb.statistics.uncertainty import wilson

PUBLIC, BY_CATEGORY, OVERALL_ONLY = "public", "categories", "overall"
LEVELS = (PUBLIC, BY_CATEGORY, OVERALL_ONLY)
"""Each shows less than the one before it."""
STEPS = 200
"""Of the overall where nothing else is shown: half a point."""
_MAJORITY = tuple(FIELDS.index(name) for name in ("n", "agree", "reject", "undecided", "half_right"))
_DIGITS = 3  # of a fraction: 0.1 point


_PARTS = (
    _(
        "counts, sources, error tags, the K curve, difficulty, length, position bias, other rules and groupings, "
        "and paired differences"
    ),
    _("the macro average, the categories, rank ranges, and everything finer than half a point"),
)
"""Information lost from each of the LEVELS to the next."""
_TOLD = {
    PUBLIC: _("everything"),
    BY_CATEGORY: _("overall, macro and categories to 0.1 point"),
    OVERALL_ONLY: _("the overall alone, to half a point"),
}


def readers_words(before: str, after: str) -> str:
    """Return what readers of the board lose or gain when its labels change from one level to another."""
    first, last = sorted((LEVELS.index(before), LEVELS.index(after)))
    if first == last:
        return _("Readers will see as much as now: {shown}.", shown=_TOLD[after])
    parts = joined(_PARTS[first:last], "; ")
    if LEVELS.index(after) == last:
        return _("Readers will lose {parts}. They will see {shown}.", parts=parts, shown=_TOLD[after])
    return _("Readers will gain {parts}. They will see {shown}.", parts=parts, shown=_TOLD[after])


def shown_names(level: str, spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the scores that a level shows."""
    return (spec.pooled,) if level == OVERALL_ONLY else spec.overall_first


def strictest(*levels: str) -> str:
    """Return the level that shows least; PUBLIC of none."""
    return max(levels, key=LEVELS.index, default=PUBLIC)


def merged(*stated: Mapping[str, str]) -> dict[str, str]:
    """Return label revision -> level; where several mappings name a revision, the one that shows least."""
    names = {name for levels in stated for name in levels}
    return {name: strictest(*(levels[name] for levels in stated if name in levels)) for name in sorted(names)}


def redact(tally: Tally, level: str) -> Tally:
    """Return what a level leaves of a tally.

    ``categories``: one line a category, agree of n. Rounding to 0.1 point would hide no more, because categories have
    fewer than 1,000 items. ``overall``: one line in all, with the agreement that the half point represents. Undecided
    and missing items need no label to be counted, so they stay.
    """
    if level == PUBLIC:
        return tally
    rows = _category_rows(tally.counts, tally.spec)
    if level == OVERALL_ONLY:
        rows = rows.sum(axis=0)[np.newaxis]
    rows = np.array([_told(row, doubled=_doubled(row, level)) for row in rows.tolist()], dtype=np.int64)
    counts = np.zeros((len(slices(tally.spec)), len(fields(tally.spec))), dtype=np.int64)
    agreeing = np.zeros((len(counts), tally.k + 1), dtype=np.int64)
    for cell, (n, agree, reject, undecided, half) in zip(_lines(tally.spec), rows.tolist(), strict=False):
        # First votes repeat the majority: their own counts would be a second look at the labels.
        counts[cell, : len(FIELDS)] = (n, agree, reject, undecided, agree, reject, undecided, half)
        agreeing[cell, [0, tally.k]] = (reject + undecided, agree)  # all votes alike: no curve
    return Tally(tally.k, counts, agreeing=agreeing, has_tags=False, spec=tally.spec)


def _lines(spec: BenchmarkSpec) -> list[int]:
    """Return the cells that hold a category's line. Under the official grouping each category adds up; under no
    other."""
    return [spec.source_keys.index(spec.groupings[spec.official][key][0]) for key in spec.category_keys]


def redact_counts(counts: IntArray, level: str, *, spec: BenchmarkSpec) -> IntArray:
    """Return (entries, CELLS, FIELDS) for what compares entries by their categories: not finer than a level shows."""
    if level != OVERALL_ONLY:  # which keep the categories as they are
        return counts
    nobody = np.zeros((len(slices(spec)), 2), dtype=np.int64)
    rows = [redact(Tally(1, count, agreeing=nobody, has_tags=False, spec=spec), level).counts for count in counts]
    return np.stack(rows) if rows else counts


def shown_scores(tally: Tally, level: str) -> dict[str, float | None]:
    """Return the scores under the ranking rule as a level tells them: in full, to 0.1 point, or the pooled one alone to
    half a point."""
    values = scores(redact(tally, level))
    rounded_scores: dict[str, float | None] = dict.fromkeys(tally.spec.overall_first)
    for name in shown_names(level, tally.spec):
        value = values[name]
        rounded_scores[name] = value if value is None or level == PUBLIC else _round_for_level(value, level)
    return rounded_scores


def _round_for_level(share: float, level: str) -> float:
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


def _category_rows(counts: IntArray, spec: BenchmarkSpec) -> IntArray:
    """(categories, 5): n, agree, reject, undecided, half right."""
    return category_counts(counts, spec)[:, _MAJORITY]


def _doubled(row: Sequence[int], level: str) -> int:
    """Return twice what a line's pairs count; of the overall alone the whole number that half a point represents."""
    n, agree, _reject, _undecided, half = row
    doubled = 2 * agree + half
    if level != OVERALL_ONLY or not n:
        return doubled
    steps = (STEPS * doubled + n) // (2 * n)
    return 2 * ((2 * steps * n + STEPS) // (2 * STEPS))


def _told(row: Sequence[int], *, doubled: int) -> tuple[int, int, int, int, int]:
    """Return a line as a function of what its pairs count, n, undecided and missing alone: whole majorities as far as
    there are decided pairs, the rest as halves."""
    n, agree, reject, undecided, _half = row
    shown = min(doubled // 2, agree + reject)
    return n, shown, agree + reject - shown, undecided, doubled - 2 * shown
