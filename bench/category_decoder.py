"""Integer decoder of an attacker who reads one category's labels from rounded scores, and the table that it fills.

    .venv/bin/python -m bench.category_decoder

The attacker has a judge that is right on 85 % of the pairs, and sends 60 files: the judge's own, and 59 in which half
of the answers of a block of one category are turned. Each answer tells the accuracy of the category, rounded to a step,
and the overall, rounded to half a point: between two whole numbers of right answers in the block. What the judge is
right on elsewhere is taken to be known, which favours the attacker, who also chooses the size of the block.
Belief propagation for dense questions about whole numbers (GAMP; S. Rangan, ISIT 2011) tells of every pair how likely
the judge is right there. What counts is how many points of the category's accuracy the judge gains by it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from scipy.linalg import hadamard

import vlrb.disclosure_gains as table
from vlrb.arrays import FloatArray
from vlrb.disclosure import STEPS
from vlrb.disclosure_gains import CATEGORY_STEPS, FILES, JUDGE

SIZES = (50, 100, 180, 300, 500, 700)
"""Pairs of the category."""
SHARES = (1.0, 0.6, 0.4, 0.26, 0.15)
"""Of the category among all pairs: the larger, the more the overall tells of it."""
BLOCKS = (50, 90, 120, 150, 180)
RUNS = 10
_ROUNDS, _DAMPING, _GRID = 120, 0.5, np.linspace(0, 1, 31)[:, np.newaxis]


def main() -> None:
    """Measure every size, share and step, and write the table that the service looks up."""
    gains = {str(pairs): {str(share): row(pairs, share) for share in SHARES} for pairs in SIZES}
    facts = {"judge": JUDGE, "files": FILES, "steps": [*CATEGORY_STEPS, None], "gains": gains}
    Path(table.__file__).with_suffix(".json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


def row(pairs: int, share: float) -> list[float]:
    """Return the gain at each step, and at last by the overall alone: by the attacker's best block, and never less than
    at a coarser step."""
    blocks = [block for block in BLOCKS if block <= pairs]
    by_step = [max(mean_gain(pairs, share, step=step, block=block) for block in blocks) for step in _steps()]
    return [round(max(by_step[at:]), 2) for at in range(len(by_step))]


def mean_gain(pairs: int, share: float, *, step: float, block: int) -> float:
    """Return the mean gain in points of the category. ``step``: in points; 0: exact counts; infinite: none is told."""
    runs = [_gain(pairs, share, step=step, block=block, shape=(FILES, seed)) for seed in range(RUNS)]
    return float(np.mean(runs))


def _steps() -> tuple[float, ...]:
    return (*CATEGORY_STEPS, math.inf)


def _gain(pairs: int, share: float, *, step: float, block: int, shape: tuple[int, int]) -> float:
    files, seed = shape
    dice = np.random.default_rng(seed)
    right = np.where(dice.random(block) < JUDGE, 1.0, -1.0)
    kept = _questions(files, block, dice=dice)
    cells = (step / 100 * pairs, pairs / share / STEPS)  # right answers that one step holds
    low, high = _answers((kept @ right + block) / 2, cells, offsets=dice.random(2), most=block)
    read = np.where(_beliefs(kept, 2 * low - block, high=2 * high - block) >= 0, 1, -1)
    return 100 * float((read == right).sum() - (right == 1).sum()) / pairs


def _questions(files: int, block: int, *, dice: np.random.Generator) -> FloatArray:
    """Return (files, block): -1 where an answer is turned. Rows of a Hadamard matrix, the first of them untouched."""
    order = 1 << (max(files, block) - 1).bit_length()
    rows = np.concatenate(([0], 1 + dice.permutation(order - 1)[: files - 1]))
    return np.asarray(hadamard(order)[np.ix_(rows, dice.permutation(order)[:block])], dtype=np.float64)


def _answers(
    counts: FloatArray, cells: tuple[float, float], *, offsets: FloatArray, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest number of right answers in the block that rounds to the same answers."""
    if not cells[0]:
        return counts, counts
    low, high = np.zeros_like(counts), np.full_like(counts, most)
    for size, offset in zip(cells, offsets, strict=True):
        if math.isfinite(size):
            cell = np.floor(counts / size + offset)
            low = np.maximum(low, np.ceil((cell - offset) * size - 1e-9))
            high = np.minimum(high, np.ceil((cell + 1 - offset) * size - 1e-9) - 1)
    return low, high


def _beliefs(kept: FloatArray, low: FloatArray, *, high: FloatArray) -> FloatArray:
    """Return of every pair the mean of 1 (the judge is right) and -1, given the bounds of (right - wrong) per file."""
    prior = math.log(JUDGE / (1 - JUDGE)) / 2
    mean = np.full(kept.shape[1], 2 * JUDGE - 1)
    residual, precision = np.zeros(len(kept)), 0.0
    for _ in range(_ROUNDS):
        spread = max(float((1 - mean**2).sum()), 1e-3)
        expected = kept @ mean - spread * residual
        found, left = _truncated(expected, spread, low=low - 1, high=high + 1)
        residual = _DAMPING * (found - expected) / spread + (1 - _DAMPING) * residual
        now = max(float(((1 - left / spread) / spread).sum()), 1e-9)
        precision = _DAMPING * now + (1 - _DAMPING) * (precision or now)
        mean = _DAMPING * np.tanh(prior + precision * mean + kept.T @ residual) + (1 - _DAMPING) * mean
    return mean


def _truncated(
    mean: FloatArray, variance: float, *, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of normal numbers that lie between bounds."""
    values = low + _GRID * (high - low)
    logs = -np.square(values - mean) / (2 * variance)
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    found = (weights * values).sum(axis=0)
    return found, (weights * np.square(values - found)).sum(axis=0)


if __name__ == "__main__":
    main()
