"""Disclosure levels of label sets: what of a judge's counts may be shown, and how exactly. Pure.

The one place that decides. `redact` is applied before anything public is made of a tally, so that pages, files, ranks
and digests are functions of what it leaves; the rest of this module formats these numbers.

What scores give away was measured once (the numbers beside this file). An attacker's judge is right on 85 % of the
pairs; 60 files are sent: its own, and 59 in which half of the answers of a block of one category are turned. Each
answer tells the accuracy of the category, rounded to a step, and the overall, rounded to half a point. Belief
propagation for dense questions about whole numbers (GAMP; S. Rangan, ISIT 2011) tells of each pair how likely the judge
is right there. The attacker chooses the best block; the gain is the mean of ten runs, in points of the category.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vlrb.arrays import IntArray
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.protocols import category_counts, scores
from vlrb.scoring import FIELDS, Tally, fields, slices
from vlrb.statistics.uncertainty import wilson

PUBLIC, BY_CATEGORY, HIDDEN = "public", "hidden:categories", "hidden"
LEVELS = (PUBLIC, BY_CATEGORY, HIDDEN)
"""Each shows less than the one before it."""
STEPS = 200
"""Of the overall of labels that are not public: half a point."""
_MAJORITY = tuple(FIELDS.index(name) for name in ("n", "agree", "reject", "undecided", "half_right"))

_SHOWN = {
    PUBLIC: "everything",
    BY_CATEGORY: "the overall to half a point, and the categories, rounded",
    HIDDEN: "the overall alone, to half a point",
}
CATEGORY_STEPS = (0.5, 1.0, 2.5, 5.0)
"""In points."""
JUDGE, FILES = 0.85, 60
"""The attacker's judge, and files turned on one category."""
MOST_GAIN = 2.0
"""Points of macro that an attacker gains at most, where a step allows that."""


CANNOT_BE_HIDDEN = (
    "The labels {hidden} agree with the public labels {public} on more than 90 % of the pairs, so they cannot be "
    "hidden: disclose them."
)


def readers_words(before: str, after: str) -> str:
    """Return what readers of the board see when its labels change from one level to another. For maintainers."""
    return f"Readers will see {_SHOWN[after]}; now they see {'as much' if before == after else _SHOWN[before]}."


def shown_names(level: str, spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the scores that a level shows."""
    if level == PUBLIC:
        return spec.overall_first
    return (spec.pooled, *(spec.category_keys if level == BY_CATEGORY else ()))


def strictest(*levels: str) -> str:
    """Return the level that shows least; PUBLIC of none."""
    return max(levels, key=LEVELS.index, default=PUBLIC)


def merged(*stated: Mapping[str, str]) -> dict[str, str]:
    """Return label revision -> level; where several mappings name a revision, the one that shows least."""
    names = {name for levels in stated for name in levels}
    return {name: strictest(*(levels[name] for levels in stated if name in levels)) for name in sorted(names)}


def redact(tally: Tally, level: str) -> Tally:
    """Return what a level leaves of a tally: one line in all, or one a category.

    The right answers of a line are some that round to what is shown, and so is their sum: a function of what is shown
    and of what needs no label (items, those missing, those that the judge left undecided).
    """
    if level == PUBLIC:
        return tally
    rows = _category_rows(tally.counts, tally.spec)
    lines = rows if level == BY_CATEGORY else rows.sum(axis=0)[np.newaxis]
    lines = _representatives(lines, _parts(rows[:, 0].tolist(), level))
    counts = np.zeros((len(slices(tally.spec)), len(fields(tally.spec))), dtype=np.int64)
    agreeing = np.zeros((len(counts), tally.k + 1), dtype=np.int64)
    for cell, (n, agree, reject, undecided, half) in zip(_lines(tally.spec), lines.tolist(), strict=False):
        # First votes repeat the majority: their own counts would be a second look at the labels.
        counts[cell, : len(FIELDS)] = (n, agree, reject, undecided, agree, reject, undecided, half)
        agreeing[cell, [0, tally.k]] = (reject + undecided, agree)  # all votes alike: no curve
    return Tally(tally.k, counts, agreeing=agreeing, has_tags=False, spec=tally.spec)


def redact_counts(counts: IntArray, level: str, *, spec: BenchmarkSpec) -> IntArray:
    """Return (entries, CELLS, FIELDS) for what compares entries: not finer than a level shows."""
    if level == PUBLIC:
        return counts
    nobody = np.zeros((len(slices(spec)), 2), dtype=np.int64)
    rows = [redact(Tally(1, count, agreeing=nobody, has_tags=False, spec=spec), level).counts for count in counts]
    return np.stack(rows) if rows else counts


class RoundedScore(NamedTuple):
    """A score as a level tells it, with 95% bounds that hold whatever it was before rounding. Fractions."""

    share: float
    low: float
    high: float


def rounded_scores(counts: IntArray, level: str, *, spec: BenchmarkSpec) -> dict[str, RoundedScore]:
    """Return the scores under the ranking rule that a level other than PUBLIC shows, by name, from (CELLS, FIELDS).

    The one place that rounds: the overall to half a point, each category to its step.
    """
    rows = _category_rows(counts, spec)
    right, pairs = _doubled(rows), rows[:, 0]
    lines = zip((int(right.sum()), *right.tolist()), (int(pairs.sum()), *pairs.tolist()), strict=True)
    parts = (STEPS, *_parts(rows[:, 0].tolist(), level)) if level == BY_CATEGORY else (STEPS,)
    return {
        name: _rounded(doubled, n, parts=part)
        for name, (doubled, n), part in zip(shown_names(level, spec), lines, parts, strict=False)
        if n
    }


def shown_scores(tally: Tally, level: str) -> dict[str, float | None]:
    """Return the scores under the ranking rule as a level tells them; None for those that it does not show."""
    if level == PUBLIC:
        values = scores(tally)
        return {name: values[name] for name in tally.spec.overall_first}
    shown = rounded_scores(tally.counts, level, spec=tally.spec)
    return dict.fromkeys(tally.spec.overall_first) | {name: score.share for name, score in shown.items()}


def measured_sentence(measured: Mapping[str, Any]) -> str:
    """Return what an attacker gains, of what a worker measured and recorded."""
    return _(
        "As measured, an attacker with a judge that is right on {judge:.0%} gains {gain:.1f} points of macro on one "
        "category by {files} files.",
        judge=JUDGE,
        gain=measured["gain"],
        files=FILES,
    )


def half_point(share: float) -> float:
    """Return a fraction rounded to half a point, half up."""
    return float(np.floor(share * STEPS + 0.5 + 1e-9) / STEPS)


class CategoryStep(NamedTuple):
    """In points. ``gain``: of the macro average, by the attack that was measured."""

    step: float
    gain: float


def category_steps(sizes: Sequence[int]) -> list[CategoryStep]:
    """Return how coarse the categories of so many pairs are shown, and what that gives away: each by the finest step at
    which an attacker gains less than MOST_GAIN, or else the coarsest."""
    known = [[gain / len(sizes) for gain in _gains(n, sum(sizes))] for n in sizes]
    steps = [[CategoryStep(*one) for one in zip(CATEGORY_STEPS, gains, strict=False)] for gains in known]
    return [next((step for step in own if step.gain < MOST_GAIN), own[-1]) for own in steps]


def gain_of(level: str, sizes: Sequence[int]) -> float:
    """Return the points of macro that an attacker gains at most on one category at a level, as measured."""
    if level == BY_CATEGORY:
        return max(step.gain for step in category_steps(sizes))
    return max(_gains(n, sum(sizes))[-1] / len(sizes) for n in sizes)


def _gains(pairs: int, total: int) -> Sequence[float]:
    """Return the gains at the next smaller category, with the next larger share: no less than at this one."""
    table = _table()
    size = max((known for known in table if known <= pairs), default=min(table))
    share = min((known for known in table[size] if known >= pairs / max(total, 1) - 1e-9), default=1.0)
    return table[size][share]


@cache
def _table() -> Mapping[int, Mapping[float, Sequence[float]]]:
    stored = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {int(pairs): {float(share): row for share, row in rows.items()} for pairs, rows in stored["gains"].items()}


@lru_cache(maxsize=4096)
def _rounded(doubled: int, n: int, *, parts: int) -> RoundedScore:
    """Return an accuracy in so many parts of one, half up, and Wilson's bounds of its cell's ends, rounded outwards.

    ``doubled``: twice the right answers of n pairs.
    """
    share, half = _cell(doubled, 2 * n, parts=parts) / parts, 0.5 / parts
    low = wilson(max(share - half, 0) * n, n).low
    high = wilson(min(share + half, 1) * n, n).high
    return RoundedScore(
        share, low=float(np.floor(low * parts + 1e-9)) / parts, high=float(np.ceil(high * parts - 1e-9)) / parts
    )


def _parts(sizes: Sequence[int], level: str) -> list[int]:
    """Return into how many parts of one each line is rounded."""
    if level == BY_CATEGORY:
        return [round(100 / found.step) for found in category_steps(sizes)]
    return [STEPS]


def _cell(agree: int, n: int, *, parts: int) -> int:
    """Return agree of n in so many parts of one, half up, in whole numbers."""
    return (2 * parts * agree + n) // (2 * n)


def _ends(agree: int, n: int, *, parts: int) -> tuple[int, int]:
    """Return the fewest and the most right answers that round to the same."""
    cell = _cell(agree, n, parts=parts)
    low, above = (-((1 - 2 * at) * n // (2 * parts)) for at in (cell, cell + 1))
    return low, above - 1


def _lines(spec: BenchmarkSpec) -> list[int]:
    """Return the cells that hold a category's line. Under the official grouping each category adds up; under no
    other."""
    return [spec.source_keys.index(spec.groupings[spec.official][key][0]) for key in spec.category_keys]


def _category_rows(counts: IntArray, spec: BenchmarkSpec) -> IntArray:
    """(categories, 5): n, agree, reject, undecided, half right."""
    return category_counts(counts, spec)[:, _MAJORITY]


def _representatives(rows: IntArray, parts: Sequence[int]) -> IntArray:
    """Return the rows with right answers that round to the same, each by itself and all together.

    Right answers are counted twice, so that halves are whole numbers.
    """
    total, right = int(rows[:, 0].sum()), int(_doubled(rows).sum())
    if not total:
        return rows
    ends = [
        (max(low, 0), min(high, 2 * (agree + reject) + undecided))
        for (n, agree, reject, undecided, half), part in zip(rows.tolist(), parts, strict=True)
        for low, high in [_ends(2 * agree + half, 2 * n, parts=part) if n else (0, 0)]
    ]
    fewest, most = _ends(right, 2 * total, parts=STEPS)
    chosen = [(low + high) // 2 for low, high in ends]
    left = min(max(sum(chosen), fewest), most) - sum(chosen)
    for at, (low, high) in enumerate(ends):
        moved = min(max(left, low - chosen[at]), high - chosen[at])
        chosen[at], left = chosen[at] + moved, left - moved
    decided = rows[:, 1] + rows[:, 2]
    agree = np.minimum(np.array(chosen) // 2, decided)
    return np.column_stack((rows[:, 0], agree, decided - agree, rows[:, 3], np.array(chosen) - 2 * agree)).astype(
        np.int64
    )


def _doubled(rows: IntArray) -> IntArray:
    """Return twice what the pairs of each row count."""
    return np.asarray(2 * rows[:, 1] + rows[:, 4])
